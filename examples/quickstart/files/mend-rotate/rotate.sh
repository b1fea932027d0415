#!/bin/bash
# rotate.sh DIR KEEP: keeps the KEEP newest backups of DIR and deletes the older ones.
# A backup is named backup-YYYY-MM-DD.tar; the date in the name counts, not the file's age.
# Prints the name of each deleted file, oldest first.
dir=$1
keep=$2
cd $dir
ls backup-* | sort | tail -n +$keep | while read name; do
  echo $name
  rm $name
done
