/* engine/tensors/blame.h - whose fault it is: the object that was being read, and the store it lies in. */
#pragma once

#include "base/error.h"

#include <sherd/store.h>

/* Names the reader's object, unless a deeper layer already named one. Handles that are read from while another store
 * is written to blame this way. */
static inline int shd_in_reader(sherd_error *err, int rc, const sherd_reader *reader)
{
	if (rc >= 0)
		return rc;
	return shd_in_store(err, shd_in_object(err, rc, sherd_reader_key(reader)), sherd_reader_store(reader));
}
