#!/bin/sh
# Runs a program of the preset arm64:   cmake/arm64/emulate.sh PROGRAM [ARGUMENT...]
# On the processor of a Raspberry Pi 4, so that nothing newer is needed without being asked for.
exec qemu-aarch64 -cpu cortex-a72 -L "$(dirname "$0")/../../build/arm64/root" "$@"
