# Fits models.

bmkl <- function(formula, data, views = NULL, kernels = NULL, model = NULL, task = NULL, missing = "impute", text = "onehot",
                 seed = 1, workers = NULL, options = list()) {
  call <- match.call()
  if (!is.data.frame(data)) stop("data is of class ", class(data)[1], ": a data frame is needed")
  form <- terms(formula, data = data)
  if (attr(form, "response") != 1) stop("the formula has no left side, which names the target")
  labels <- attr(form, "term.labels")
  if (!length(labels)) stop("the formula has no right side, which names the features")
  if (any(attr(form, "order") > 1)) {
    stop(labels[attr(form, "order") > 1][1], " is an interaction: name the columns, and the kernels find what they do together")
  }
  env <- environment(formula)
  x <- features(labels, data, env)
  kinds <- mapply(kind, x, names(x))
  side <- formula[[2]]
  y <- response(eval(side, data, env), make.unique(c(names(x), deparse1(side)))[length(x) + 1], task, length(x))
  rows <- unique(lengths(c(x, y$columns)))
  if (length(rows) != 1) stop("the target and the features have different numbers of values")
  as <- which(kinds %in% c("text", "date"))
  flags <- c(y$flags, if (!is.null(y$task)) c("-task", y$task), view_flags(views, kernels, names(x)),
    if (length(as)) rbind("-as", paste0("#", as, "=", kinds[as])),
    if (!is.null(model)) c("-model", model), "-missing", missing, "-text", text, "-seed", format(seed, scientific = FALSE),
    if (!is.null(workers)) c("-workers", workers), more(options))
  made <- within_folder(function(folder) {
    write_table(folder, c(x, y$columns), c(kinds, y$kinds))
    out <- run(folder, "fit", "data.csv", reading, flags, "-o", "model.mkl")
    file <- file.path(folder, "model.mkl")
    list(out = out, model = readBin(file, "raw", file.size(file)))
  })
  for (line in grep("warning: ", made$out$notes, value = TRUE)) warning(sub(".*warning: ", "", line), call. = FALSE)
  structure(list(call = call, task = inspect(made$model)$task, targets = names(y$columns), labels = labels, env = env, model = made$model,
    levels = if (is.factor(y$columns[[1]])) levels(y$columns[[1]]),
    report = sub("^data\\.csv: ", "", utils::head(made$out$lines, -2)), notes = made$out$notes), class = "bmkl")
}

# more are further flags of the command: options by their names; TRUE is a flag without a value.
more <- function(options) {
  if (length(options) && is.null(names(options))) stop("options need names: those of flags of mkl fit", call. = FALSE)
  flags <- character()
  for (name in names(options)) {
    value <- options[[name]]
    flags <- c(flags, if (isTRUE(value)) paste0("-", name) else if (!isFALSE(value)) paste0("-", name, "=", value))
  }
  flags
}

# inspect is what the command says of a model.
inspect <- function(model) {
  within_folder(function(folder) {
    writeBin(model, file.path(folder, "model.mkl"))
    json(run(folder, "inspect", "model.mkl", "-json")$lines)
  })
}

print.bmkl <- function(x, ...) {
  cat("Call: ", deparse1(x$call), "\n", sep = "")
  cat(utils::head(x$report, 2), sep = "\n")
  invisible(x)
}

summary.bmkl <- function(object, ...) structure(list(call = object$call, report = object$report, views = views(object)), class = "summary.bmkl")

print.summary.bmkl <- function(x, ...) {
  cat("Call: ", deparse1(x$call), "\n\n", sep = "")
  cat(x$report, sep = "\n")
  invisible(x)
}

views <- function(object) {
  rows <- inspect(object$model)$views
  if (is.null(rows)) return(NULL)
  number <- function(name) vapply(rows, function(r) if (is.null(r[[name]])) NA_real_ else as.numeric(r[[name]]), 0)
  data.frame(view = vapply(rows, `[[`, "", "view"), share = number("share"), sd = number("sd"), needed = number("in"),
    alone = number("informative"), loss = number("loss"), loss_se = number("loss_se"))
}

write_bmkl <- function(object, file) {
  stopifnot(inherits(object, "bmkl"))
  writeBin(object$model, file)
  invisible(file)
}

read_bmkl <- function(file) {
  model <- readBin(file, "raw", file.size(file))
  known <- inspect(model)
  plan <- unlist(lapply(known$inputs, function(view) lapply(view$plan, `[[`, "name")))
  structure(list(call = call("read_bmkl", file), task = known$task, targets = unlist(known$target_columns),
    labels = vapply(unique(plan), function(n) deparse1(as.name(n), backtick = TRUE), ""), env = baseenv(), model = model,
    report = summary_lines(model), notes = character()), class = "bmkl")
}

# summary_lines are what mkl inspect prints of a model.
summary_lines <- function(model) {
  within_folder(function(folder) {
    writeBin(model, file.path(folder, "model.mkl"))
    sub("^model\\.mkl: ", "", run(folder, "inspect", "model.mkl")$lines)
  })
}
