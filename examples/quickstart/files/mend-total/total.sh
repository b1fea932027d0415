#!/bin/bash
# Prints the sum of the whole numbers in every .txt file of a folder, one number a line.
folder=$1
sum=0
for file in $(ls $folder/*.txt); do
  cat $file | while read number; do
    sum=$((sum + number))
  done
done
echo $sum
