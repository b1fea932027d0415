#!/bin/sh
set -x
