/* tests/support/environment.h - numbers that whoever runs a test may choose: SHERD_SEED, SHERD_KILLS, ... */
#ifndef SHERD_TEST_ENVIRONMENT_H
#define SHERD_TEST_ENVIRONMENT_H

#include <stdint.h>

uint64_t environment_number(const char *name, uint64_t otherwise);

#endif
