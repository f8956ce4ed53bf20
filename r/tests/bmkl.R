# The package computes what the command computes, and returns what R expects.
library(bmkl)
if (inherits(try(find_mkl(), silent = TRUE), "try-error")) {
  cat("skipped: the command mkl is not there\n")
  quit("no")
}

command <- function(...) stopifnot(system2(find_mkl(), shQuote(c(...)), stdout = FALSE, stderr = FALSE) == 0)
fails <- function(expr, says) {
  e <- tryCatch({ expr; NULL }, error = identity)
  if (is.null(e) || !grepl(says, conditionMessage(e), fixed = TRUE)) stop("no error with: ", says, "; but: ", conditionMessage(e))
}
old <- setwd(tempdir())

# Classes, beside the command on the same table.
write.csv(iris, "iris.csv", row.names = FALSE, quote = FALSE)
command("fit", "iris.csv", "-target", "Species", "-o", "i.mkl")
command("predict", "i.mkl", "iris.csv", "-o", "i.csv")
want <- read.csv("i.csv", colClasses = c("character", "character", "character", "character"))
m <- bmkl(Species ~ ., iris)
p <- predict(m, iris, type = "prob")
stopifnot(identical(unname(p[, "setosa"]), as.numeric(want$p_setosa)), colnames(p) == levels(iris$Species))
stopifnot(identical(predict(m, iris), factor(want$label, levels(iris$Species))))
read <- read_bmkl("i.mkl")
stopifnot(identical(predict(read, iris[5:1], type = "prob"), p), is.null(views(m)))
fails(predict(m, iris, se.fit = TRUE), "probabilities")
print(m)

# Numbers with gaps, text, logicals and dates, and names that need quotes.
set.seed(1)
n <- 60
d <- data.frame(area = runif(n, 40, 200), town = sample(c("old, town", "the \"mile\"", "harbour"), n, TRUE),
  garden = runif(n) < 0.5, sold = as.Date("2024-01-01") + sample(900, n))
d[["a b"]] <- 1 / seq_len(n)
price <- 3 * d$area + 40 * d$garden + 20 * (d$town == "harbour") + rnorm(n, 0, 5)
d$area[1:4] <- NA
m <- bmkl(log(price) ~ ., d)
p <- predict(m, d, se.fit = TRUE)
stopifnot(cor(p$fit, log(price)) > 0.9, p$se.fit > 0, length(p$fit) == n)
band <- predict(m, d, interval = "prediction", level = 0.5)
stopifnot(band[, "lwr"] < band[, "fit"], band[, "fit"] < band[, "upr"])
write_bmkl(m, "h.mkl")
stopifnot(identical(predict(read_bmkl("h.mkl"), d), p$fit))
saveRDS(m, "m.rds")
stopifnot(identical(predict(readRDS("m.rds"), d), p$fit))

# Views.
x <- as.data.frame(matrix(rnorm(480), 80))
x$y <- x$V1 - 2 * x$V4 + rnorm(80, 0, 0.1)
m <- bmkl(y ~ ., x, views = list(rna = c("V4", "V1"), noise = c("V2", "V3", "V1")))
v <- views(m)
stopifnot(setequal(v$view, c("rna", "noise")), v$share[v$view == "rna"] > v$share[v$view == "noise"])
parts <- explain(m, x)
stopifnot(c("constant", "view_rna", "view_noise") %in% names(parts))
stopifnot(all.equal(rowSums(parts[!grepl("_sd$", names(parts))]), predict(m, x), check.attributes = FALSE))
print(summary(m))
one <- bmkl(y ~ V1 + V4, x, model = "mgp", kernels = "rbf(width=2)")
stopifnot(abs(predict(one, x) - x$y) < 1)
fails(bmkl(y ~ ., x, views = list(a = "none")), "none, which is no term")
fails(bmkl(y ~ V1:V2, x), "interaction")
fails(bmkl(y ~ V1, x, options = list(5)), "options need names")
fails(bmkl(y ~ V1, x, model = "nothing"), "nothing")
fails(bmkl(y ~ V1, data.frame(y = 1:3, V1 = I(list(1, 2, 3)))), "V1 is of class")

# Several targets.
m <- bmkl(cbind(u, w) ~ V1 + V2, transform(x, u = V1, w = 3 - V2))
stopifnot(dim(predict(m, x)) == c(80, 2), abs(predict(m, x)[, "u"] - x$V1) < 0.2)

# Counts.
m <- suppressWarnings(bmkl(count ~ spray, InsectSprays, task = "counts"))
fitted <- tapply(predict(m, InsectSprays), InsectSprays$spray, mean)
stopifnot(cor(fitted, tapply(InsectSprays$count, InsectSprays$spray, mean)) > 0.95)

# Times, whose concordance another program computes.
if (requireNamespace("survival", quietly = TRUE)) {
  v <- survival::veteran
  m <- bmkl(survival::Surv(time, status) ~ trt + celltype + karno + age, v)
  risk <- predict(m, v, type = "risk")
  stopifnot(survival::concordance(survival::Surv(time, status) ~ risk, v, reverse = TRUE)$concordance > 0.7)
  s <- predict(m, v, type = "survival", times = c(365, 90))
  stopifnot(dim(s) == c(nrow(v), 2), s[, 1] < s[, 2], colnames(s) == c("365", "90"))
  stopifnot(predict(m, v, interval = "prediction")[, "lwr"] < predict(m, v))
}
setwd(old)
