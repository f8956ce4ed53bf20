# Writes the sets of docs/lab/dates.md to a folder: Rscript sets.R FOLDER. It needs ggplot2 and modeldata.

folder <- commandArgs(TRUE)[1]
series <- function(y, start) data.frame(date = seq(as.Date(start), by = "month", length.out = length(y)), y = as.numeric(y))
save <- function(x, name) write.csv(x, file.path(folder, paste0(name, ".csv")), row.names = FALSE)

save(series(co2[1:300], "1959-01-01"), "co2")
save(series(nottem, "1920-01-01"), "nottem")
save(series(log(Seatbelts[, "drivers"]), "1969-01-01"), "drivers")
save(series(log(AirPassengers), "1949-01-01"), "air")

data(Chicago, package = "modeldata")
days <- as.data.frame(Chicago)[1001:2000, ]
set.seed(1)
save(days[sort(sample(1000, 400)), c("date", "ridership")], "chicago")
save(days[sort(sample(1000, 400)), c("date", "ridership", "temp_max", "humidity", "wind")], "weather")

months <- as.data.frame(ggplot2::economics)[1:574, ]
save(months[sort(sample(574, 300)), c("date", "uempmed", "psavert", "unemploy")], "economics")

air <- na.omit(airquality)
air$date <- as.Date(sprintf("1973-%d-%d", air$Month, air$Day))
save(air[, c("Ozone", "Solar.R", "Wind", "Temp", "date")], "airquality")
