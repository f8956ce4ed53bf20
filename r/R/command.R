# Finds and runs the command mkl.

find_mkl <- function() {
  own <- Sys.getenv("BMKL_MKL")
  if (nzchar(own)) {
    if (!file.exists(own)) stop("BMKL_MKL is ", own, ", and there is no such file")
    return(normalizePath(own))
  }
  name <- if (.Platform$OS.type == "windows") "mkl.exe" else "mkl"
  carried <- system.file("bin", name, package = "bmkl")
  if (nzchar(carried)) return(carried)
  found <- Sys.which("mkl")
  if (nzchar(found)) return(unname(found))
  stop("the command mkl is not there: install a package of the releases, or set BMKL_MKL to its path")
}

# run runs the command within a folder: the lines of standard output, and the lines of standard error as notes. An error of
# the command is an error here, without the names of files that the user did not choose.
run <- function(folder, ...) {
  before <- setwd(folder)
  on.exit(setwd(before))
  kind <- if (.Platform$OS.type == "windows") "cmd" else "sh"
  status <- system2(find_mkl(), shQuote(c(...), type = kind), stdout = "stdout.txt", stderr = "stderr.txt", stdin = "")
  lines <- readLines("stdout.txt", encoding = "UTF-8", warn = FALSE)
  notes <- readLines("stderr.txt", encoding = "UTF-8", warn = FALSE)
  if (status != 0) {
    said <- if (length(notes)) notes[length(notes)] else paste("the command ended with status", status)
    if (startsWith(said, "{")) said <- json(said)$error # with -json
    stop(sub("^(mkl: )?((data\\.csv|model\\.mkl): )?", "", said), call. = FALSE)
  }
  list(lines = lines, notes = notes)
}

# within_folder calls f with a new folder, which does not outlive the call.
within_folder <- function(f) {
  folder <- tempfile("bmkl")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  f(folder)
}

# json reads what the command prints with -json: objects and lists become lists. Each token becomes a token of R.
json <- function(lines) {
  text <- paste(lines, collapse = "\n")
  token <- "\"(\\\\.|[^\"\\\\])*\"|-?[0-9][-+.0-9eE]*|true|false|null|[][{},:]"
  found <- regmatches(text, gregexpr(token, text, perl = TRUE))[[1]]
  own <- c("{" = "list(", "[" = "list(", "}" = ")", "]" = ")", ":" = "=", "true" = "TRUE", "false" = "FALSE", "null" = "NULL")
  known <- found %in% names(own)
  found[known] <- own[found[known]]
  found[!known] <- gsub("\\/", "/", found[!known], fixed = TRUE)
  eval(parse(text = paste(found, collapse = " "), keep.source = FALSE, encoding = "UTF-8"), baseenv())
}
