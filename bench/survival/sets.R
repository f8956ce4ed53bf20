# Writes lung.csv, pbc.csv, gbsg.csv and veteran.csv of the R package survival to a folder, with twenty splits each, and
# prints the concordance of Cox's regression (coxph) on the samples that they hold out:
#
#   Rscript bench/survival/sets.R FOLDER
suppressMessages(library(survival))
folder <- commandArgs(TRUE)[1]
set.seed(1)
sets <- list(
  lung = list(d = lung[, setdiff(names(lung), "inst")], time = "time", dead = 2),
  pbc = list(d = pbc[, setdiff(names(pbc), "id")], time = "time", dead = 2),
  gbsg = list(d = gbsg[, setdiff(names(gbsg), "pid")], time = "rfstime", dead = 1),
  veteran = list(d = veteran, time = "time", dead = 1))
for (name in names(sets)) {
  s <- sets[[name]]
  d <- s$d[complete.cases(s$d), ]
  event <- d$status == s$dead
  time <- pmax(d[[s$time]], 0.5)
  x <- model.matrix(~ ., d[, setdiff(names(d), c(s$time, "status"))])[, -1, drop = FALSE]
  out <- data.frame(time = time, event = as.integer(event), x)
  cox <- c()
  for (k in 1:20) {
    train <- sample(nrow(out)) <= round(0.7 * nrow(out))
    out[[paste0("train", k)]] <- as.integer(train)
    beta <- coef(coxph(Surv(time[train], event[train]) ~ x[train, ]))
    risk <- x[!train, ] %*% ifelse(is.na(beta), 0, beta)
    cox <- c(cox, concordance(Surv(time[!train], event[!train]) ~ risk, reverse = TRUE)$concordance)
  }
  write.csv(out, file.path(folder, paste0(name, ".csv")), row.names = FALSE)
  cat(sprintf("%-8s %4d samples  %2d features  events %.2f  Cox's concordance %.4f\n", name, nrow(out), ncol(x), mean(event), mean(cox)))
}
