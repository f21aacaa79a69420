/* tests/support/scratch.h - a folder of the test's own, removed at its end. */
#pragma once

#include <stddef.h>

/* A new empty folder below the build folder (or the system's for temporary files); owned by the caller. */
char *scratch_make(void);
/* Removes it and all that is in it, and frees the name. */
void scratch_remove(char *folder);

/* From here on in memory, where the system has a place for that: for tests that sync thousands of times and do not ask
 * what the disk holds. */
void scratch_in_memory(void);

/* How many files in it are not objects yet, or never became any. */
size_t scratch_temporaries(const char *folder);
