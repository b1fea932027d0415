#!/bin/sh
kill "$(cat server.pid)"
