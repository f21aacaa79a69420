#include "support/environment.h"

#include <stdlib.h>

uint64_t environment_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}
