# Computes kernlab.json with the package kernlab of R: Rscript kernlab.R, in this folder.
suppressMessages(library(kernlab))
problems <- jsonlite::fromJSON("exact.json", simplifyVector = FALSE)

numbers <- function(seed, count) {
  s <- (48271 * seed) %% 2147483647 # the first number is the second s
  out <- numeric(count)
  for (i in seq_len(count)) {
    s <- (48271 * s) %% 2147483647
    out[i] <- s / 2^30 - 1
  }
  out
}

covariance <- function(kernels) {
  one <- function(p, x, z) {
    d <- sqrt(sum((x - z)^2))
    switch(p$kind,
      constant = 1,
      linear = sum(x * z),
      rbf = exp(-d^2 / (2 * p$width^2)),
      matern = {
        u <- sqrt(2 * p$smoothness) * d / p$width
        if (p$smoothness == 1.5) (1 + u) * exp(-u) else (1 + u + u^2 / 3) * exp(-u)
      },
      rational = (1 + d^2 / (2 * p$alpha * p$width^2))^(-p$alpha))
  }
  k <- function(x, y) sum(vapply(kernels, function(p) p$weight * one(p, x, y), 0))
  class(k) <- "kernel"
  k
}

answers <- lapply(problems, function(p) {
  n <- p$samples
  m <- length(p$mean)
  all <- numbers(p$seed, (n + m) * p$features + n)
  x <- matrix(all[seq_len((n + m) * p$features)], ncol = p$features, byrow = TRUE)
  y <- 2 * tail(all, n)
  model <- gausspr(x[seq_len(n), , drop = FALSE], y, kernel = covariance(p$kernels), var = p$noise^2,
    scaled = FALSE, variance.model = TRUE, type = "regression", fit = FALSE)
  new <- x[n + seq_len(m), , drop = FALSE]
  list17 <- function(v) paste(sprintf("%.17g", as.vector(v)), collapse = ", ")
  sprintf('{"seed": %d, "mean": [%s], "variance": [%s]}', p$seed, list17(predict(model, new)), list17(predict(model, new, type = "variance")))
})
writeLines(c("[", paste(unlist(answers), collapse = ",\n"), "]"), "kernlab.json")
