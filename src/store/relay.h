/* store/relay.h - what one process read, for others that are about to read the same.
 *
 * A store over another one. The first process has it note what is read; the others get the notes, and answer from them:
 * objects that were opened are there, with size and identity, and are opened only where other bytes of them are asked
 * for. Everything else goes to the store inside. */
#pragma once

#include "base/buf.h"

#include <sherd/store.h>

/* notes NULL: takes notes. The store inside outlives it. */
int shd_relay_open(sherd_store **out, sherd_store *inside, const shd_buf *notes, sherd_error *err);
/* Stops taking notes, and gives those that were taken. */
int shd_relay_notes(sherd_store *store, shd_buf *out, sherd_error *err);
