/* base/time.h - instants as text, RFC 3339 in UTC. */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define SHD_TIME_TEXT 36

/* Writes "2026-01-09T12:00:00Z", with as many decimals as the nanoseconds need. Years 0 to 9999 only, else "". */
void shd_time_format(int64_t ns, char out[SHD_TIME_TEXT]);
/* Takes "Z" or an offset, any number of decimals (those past the ninth are dropped). */
bool shd_time_parse(shd_str text, int64_t *ns);
