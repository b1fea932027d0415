BEGIN { FS = "," }
NR > 1 { sum[$1] += $2 }
END { for (region in sum) print region, sum[region] }
