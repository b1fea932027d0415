#!/bin/sh
exec ./server --port 8080
