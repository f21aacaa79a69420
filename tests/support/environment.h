/* tests/support/environment.h - numbers that whoever runs a test may choose: SHD_SEED, SHD_KILLS, ... */
#ifndef SHD_TEST_ENVIRONMENT_H
#define SHD_TEST_ENVIRONMENT_H

#include <stdint.h>

uint64_t environment_number(const char *name, uint64_t otherwise);

#endif
