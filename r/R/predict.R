# Predicts with models.

predict.bmkl <- function(object, newdata, type = c("response", "class", "prob", "risk", "survival"), se.fit = FALSE,
                         interval = c("none", "prediction"), level = 0.95, times = NULL, ...) {
  type <- match.arg(type)
  interval <- match.arg(interval)
  if (missing(newdata)) stop("newdata is missing: a model does not keep the rows of its fit as a data frame")
  if (object$task %in% c("binary", "multiclass")) {
    if (se.fit || interval != "none") stop("classes have probabilities, no standard errors: type = \"prob\"")
    return(predict_classes(object, newdata, type))
  }
  if (object$task == "survival") return(predict_times(object, newdata, type, interval, level, times))
  if (type != "response") stop("type = \"", type, "\" is for other models than ", object$task)
  out <- predicted(object, newdata, c("-interval", format(level, digits = 15)))
  column <- function(name) {
    several <- length(object$targets) > 1
    m <- vapply(object$targets, function(t) out[[if (several) paste0(t, "_", name) else name]], numeric(nrow(out)))
    if (several) matrix(m, nrow(out), dimnames = list(NULL, object$targets)) else as.vector(m)
  }
  fit <- column("mean")
  if (interval == "prediction") {
    if (is.matrix(fit)) stop("intervals of several targets: se.fit = TRUE has their standard errors")
    fit <- cbind(fit = fit, lwr = column("lower"), upr = column("upper"))
  }
  if (se.fit) list(fit = fit, se.fit = column("sd")) else fit
}

# predicted is the table of mkl predict.
predicted <- function(object, newdata, flags) {
  if (!is.data.frame(newdata)) stop("newdata is of class ", class(newdata)[1], ": a data frame is needed", call. = FALSE)
  x <- features(object$labels, newdata, object$env)
  within_folder(function(folder) {
    write_table(folder, x, mapply(kind, x, names(x)))
    writeBin(object$model, file.path(folder, "model.mkl"))
    run(folder, "predict", "model.mkl", "data.csv", reading, flags, "-o", "out.csv")
    text <- read.csv(file.path(folder, "out.csv"), check.names = FALSE, colClasses = "character", encoding = "UTF-8", na.strings = "")
    for (k in which(names(text) != "label")) text[[k]] <- as.numeric(text[[k]])
    text
  })
}

predict_classes <- function(object, newdata, type) {
  if (type == "response") type <- "class"
  out <- predicted(object, newdata, character())
  p <- as.matrix(out[startsWith(names(out), "p_")])
  dimnames(p) <- list(NULL, sub("^p_", "", colnames(p)))
  switch(type,
    prob = p,
    class = factor(out$label, levels = if (is.null(object$levels)) colnames(p) else object$levels),
    stop("type = \"", type, "\" is for other models than ", object$task, call. = FALSE)
  )
}

predict_times <- function(object, newdata, type, interval, level, times) {
  if (type %in% c("class", "prob")) stop("type = \"", type, "\" is for classes", call. = FALSE)
  if (type == "survival") {
    if (is.null(times)) stop("type = \"survival\" needs times", call. = FALSE)
    ordered <- sort(unique(times))
    out <- predicted(object, newdata, c("-times", paste(format(ordered, digits = 15, trim = TRUE), collapse = ",")))
    later <- as.matrix(out[utils::tail(seq_along(out), length(ordered))])
    later <- later[, match(times, ordered), drop = FALSE]
    dimnames(later) <- list(NULL, times)
    return(later)
  }
  out <- predicted(object, newdata, c("-interval", format(level, digits = 15)))
  if (type == "risk") return(out$risk)
  if (interval == "prediction") cbind(fit = out$median, lwr = out$lower, upr = out$upper) else out$median
}

explain <- function(object, newdata) {
  out <- predicted(object, newdata, "-views")
  out[match("constant", names(out)):length(out)]
}
