/* tests/support/environment.h - numbers that whoever runs a test may choose: SHD_SEED, SHD_KILLS, ... */
#pragma once

#include <stdint.h>

uint64_t environment_number(const char *name, uint64_t otherwise);
