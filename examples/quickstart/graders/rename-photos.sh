#!/bin/sh
# New names by day and time of day, contents untouched, nothing lost.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
cd photos || fail 'the folder photos is missing'
expected='2025-06-01_1.jpg|2025-06-01 08:55:02
2025-06-01_2.jpg|2025-06-01 09:12:40
2025-06-01_3.jpg|2025-06-01 21:00:10
2025-06-02_1.jpg|2025-06-02 07:05:33
2025-06-02_2.jpg|2025-06-02 17:30:00
2025-06-03_1.jpg|2025-06-03 12:00:00'
echo "$expected" | while IFS='|' read -r name taken; do
  [ "$(cat "$name" 2> /dev/null)" = "photo taken $taken" ] || fail "$name is not the photo of $taken"
done || exit 1
[ "$(cat IMG_0500.JPG 2> /dev/null)" = 'photo without a date' ] || fail 'IMG_0500.JPG should keep its name'
[ "$(ls | grep -vc '^taken\.csv$')" = 7 ] || fail 'there should be seven photos'
