/* tests/support/corpus.h - folders of files whose first letter says what must become of them: y_ is accepted, n_
 * refused, i_ either. */
#pragma once

#include <sherd/error.h>

#include <stddef.h>
#include <stdint.h>

/* Only whether it succeeds matters. */
typedef int corpus_fn(const uint8_t *data, size_t len, sherd_error *err);

/* Judges every file of a folder of the source tree. A refusal must say why, and where within the file. There must be at
 * least so many of each kind: files that were lost on the way do not make a test pass. */
void corpus_judge(const char *folder, corpus_fn *decode, size_t yes, size_t no, size_t either);
