# Writes tables of grades to a folder, with ten splits each, and prints the mean scores of MASS::polr with a probit link
# (columns as they are), and of mgcv::gam with the family ocat (smooth functions of the columns with more than ten
# values), on the samples that they hold out, with their seconds of all splits:
#
#   Rscript bench/grades/sets.R FOLDER
suppressMessages({library(MASS); library(mgcv); library(survival); library(rpart)})
folder <- commandArgs(TRUE)[1]
set.seed(1)
scores <- function(p, y) {  # log loss, ranked probability score, kappa of the median
  k <- ncol(p); n <- length(y)
  cum <- t(apply(p, 1, cumsum))[, 1:(k - 1), drop = FALSE]
  med <- 1 + rowSums(cum < 0.5)
  c(loss = -mean(log(pmax(p[cbind(1:n, y)], 1e-12))),
    rps = mean(rowSums((cum - outer(y, 1:(k - 1), "<="))^2) / (k - 1)),
    qwk = 1 - sum((y - med)^2) / (sum(y^2) + sum(med^2) - 2 * sum(y) * sum(med) / n))
}
numbers <- function(d) model.matrix(~ ., d)[, -1, drop = FALSE]
lab <- pbc[1:312, c("age", "sex", "ascites", "hepato", "spiders", "edema", "bili", "chol", "albumin", "copper",
  "alk.phos", "ast", "trig", "platelet", "protime", "stage")]
cars <- car90[, c("Price", "Weight", "Length", "Width", "Disp", "HP", "Tank", "Turning", "Reliability")]
cars$Reliability <- as.integer(cars$Reliability)
ta <- survey[, c("Sex", "Wr.Hnd", "Pulse", "Height", "Age", "Clap", "Exer")]
ta$Exer <- match(ta$Exer, c("None", "Some", "Freq"))
bw <- birthwt[, c("age", "lwt", "race", "smoke", "ptl", "ht", "ui", "ftv", "bwt")]
bw$bwt <- as.integer(cut(bw$bwt, c(0, 2000, 2500, 3000, 3500, 9999)))
sets <- list(cirrhosis = lab, cars = cars, exercise = ta, birthwt = bw)
for (name in names(sets)) {
  d <- sets[[name]]
  d <- d[complete.cases(d), ]
  y <- d[[ncol(d)]]
  x <- as.data.frame(numbers(d[, -ncol(d)]))
  names(x) <- make.names(names(x))
  k <- max(y)
  out <- cbind(grade = y, x)
  smooth <- sapply(x, function(v) length(unique(v)) > 10)
  f <- reformulate(ifelse(smooth, sprintf("s(%s, k = 5)", names(x)), names(x)), "y")
  all <- list(polr = NULL, ocat = NULL); seconds <- c(polr = 0, ocat = 0); failed <- c(polr = 0, ocat = 0)
  for (s in 1:10) {
    repeat {
      train <- sample(nrow(x)) <= round(0.7 * nrow(x))
      if (all(1:k %in% y[train])) break
    }
    out[[paste0("train", s)]] <- as.integer(train)
    own <- cbind(x, y = factor(y))
    seconds["polr"] <- seconds["polr"] + system.time(p <- try(suppressWarnings({
      z <- own; z[names(x)] <- scale(x)
      m <- polr(y ~ ., z[train, ], method = "probit", Hess = FALSE)
      predict(m, z[!train, ], type = "probs")
    }), silent = TRUE))[["elapsed"]]
    if (inherits(p, "try-error")) failed["polr"] <- failed["polr"] + 1 else all$polr <- rbind(all$polr, scores(p, y[!train]))
    own$y <- y
    seconds["ocat"] <- seconds["ocat"] + system.time(p <- try(suppressWarnings({
      m <- gam(f, family = ocat(R = k), data = own[train, ], method = "REML", select = TRUE)
      predict(m, own[!train, ], type = "response")
    }), silent = TRUE))[["elapsed"]]
    if (inherits(p, "try-error")) failed["ocat"] <- failed["ocat"] + 1 else all$ocat <- rbind(all$ocat, scores(p, y[!train]))
  }
  write.csv(out, file.path(folder, paste0(name, ".csv")), row.names = FALSE)
  cat(sprintf("%-10s %d samples, %d features, %d grades\n", name, nrow(x), ncol(x), k))
  for (m in names(all)) {
    if (is.null(all[[m]])) next
    v <- colMeans(all[[m]])
    cat(sprintf("  %s loss %.4f rps %.4f qwk %.4f, %.1f s, %d failed\n", m, v[1], v[2], v[3], seconds[m], failed[m]))
  }
}
