# Writes the tables that the command reads.

# kind says how a column goes to the command.
kind <- function(x, name) {
  if (inherits(x, c("Date", "POSIXt"))) return("date")
  if (is.factor(x) || is.character(x)) return("text")
  if (is.logical(x)) return("boolean")
  if (is.numeric(x) && is.null(dim(x))) return("number")
  stop("column ", name, " is of class ", class(x)[1], ": numbers, text, factors, logicals and dates are taken", call. = FALSE)
}

# cells are the texts of a column; numbers have all digits.
cells <- function(x, kind) {
  text <- switch(kind,
    number = sprintf("%.17g", as.numeric(x)),
    date = if (inherits(x, "Date")) format(x, "%Y-%m-%d") else format(x, "%Y-%m-%d %H:%M:%S", tz = "UTC"),
    boolean = ifelse(x, "true", "false"),
    as.character(x)
  )
  text[is.na(x)] <- ""
  ifelse(grepl("[\",\r\n]|^#|^ | $", text), paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\""), text)
}

# write_table writes data.csv: named columns, each as its kind says.
write_table <- function(folder, columns, kinds) {
  quoted <- paste0("\"", gsub("\"", "\"\"", names(columns), fixed = TRUE), "\"")
  rows <- do.call(paste, c(unname(Map(cells, columns, kinds)), sep = ","))
  if (length(columns) == 1) rows[rows == ""] <- "NA" # an empty line is no row
  out <- file(file.path(folder, "data.csv"), "wb")
  on.exit(close(out))
  writeLines(enc2utf8(c(paste(quoted, collapse = ","), rows)), out, sep = "\n", useBytes = TRUE)
}

# reading are the flags by which the command reads data.csv.
reading <- c("-separator", ",", "-header", "yes", "-decimal", ".")

# features evaluates terms of a formula in a data frame: a list of columns by their names.
features <- function(labels, data, env) {
  columns <- lapply(labels, function(l) eval(str2lang(l), data, env))
  for (k in seq_along(columns)) {
    if (length(columns[[k]]) != nrow(data)) stop(labels[k], " has not as many values as data has rows", call. = FALSE)
  }
  setNames(columns, gsub("`", "", labels, fixed = TRUE))
}

# response takes the left side of a formula apart: the task, columns, their kinds, and flags that name them after n features.
response <- function(y, name, task, n) {
  at <- function(k) paste0("#", n + k)
  if (inherits(y, "Surv")) {
    if (attr(y, "type") != "right") stop("Surv of the type ", attr(y, "type"), ": times censored on the right are taken", call. = FALSE)
    return(list(task = "survival", columns = list(time = unclass(y)[, 1], event = unclass(y)[, 2]), kinds = c("number", "number"),
      flags = c("-target", at(1), "-event", at(2))))
  }
  if (is.matrix(y) || is.data.frame(y)) {
    y <- as.data.frame(y)
    return(list(task = task, columns = as.list(y), kinds = rep("number", length(y)),
      flags = c("-target", paste0(at(1), "..", at(length(y))))))
  }
  if (is.null(task)) {
    classes <- length(unique(stats::na.omit(as.character(y))))
    task <- if (is.numeric(y)) "regression" else if (classes == 2) "binary" else "multiclass"
  }
  kind <- if (is.numeric(y)) "number" else "text"
  list(task = task, columns = setNames(list(y), name), kinds = kind, flags = c("-target", at(1)))
}

# view_flags names views by the positions of their columns, which may be in several views.
view_flags <- function(views, kernels, names) {
  if (is.null(views)) {
    if (!is.null(names(kernels))) stop("kernels has names, and there are no views", call. = FALSE)
    return(if (is.null(kernels)) character() else c("-kernels", kernels))
  }
  flags <- if (is.null(names(kernels)) && !is.null(kernels)) c("-kernels", kernels)
  if (is.null(names(views)) || any(grepl("[=:,\"'@#]", names(views))) || !all(nzchar(names(views)))) {
    stop("views need names without = : , \" ' @ #", call. = FALSE)
  }
  unknown <- setdiff(names(kernels), names(views))
  if (length(unknown)) stop("kernels names ", unknown[1], ", which is no view", call. = FALSE)
  for (v in names(views)) {
    at <- match(views[[v]], names)
    if (anyNA(at)) stop("the view ", v, " names ", views[[v]][is.na(at)][1], ", which is no term of the formula", call. = FALSE)
    own <- if (v %in% names(kernels)) paste0(":", kernels[[v]]) else ""
    flags <- c(flags, "-view", paste0(v, "=", paste0("#", at, collapse = ","), own))
  }
  flags
}
