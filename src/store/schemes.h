/* store/schemes.h - the stores that are built in. */
#ifndef SHD_STORE_SCHEMES_H
#define SHD_STORE_SCHEMES_H

#include <sherd/sys/backend.h>

extern const sherd_scheme shd_scheme_file;
extern const sherd_scheme shd_scheme_memory;

#endif
