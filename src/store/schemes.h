/* store/schemes.h - the stores that are built in. */
#pragma once

#include <sherd/sys/backend.h>

extern const sherd_scheme shd_scheme_file;
extern const sherd_scheme shd_scheme_memory;
