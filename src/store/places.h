/* store/places.h - between the front's writers and their places. */
#pragma once

#include <sherd/sys/backend.h>

/* Fails with what stopped the writer, if anything did. */
int shd_writer_report(const sherd_writer *writer, sherd_error *err);
/* Keeps what stands in writer->failure, and reports it. */
int shd_writer_stick(sherd_writer *writer, int rc, uint64_t offset, sherd_error *err);
/* Ends the places of a writer, if it has any; its length is what they come to. */
int shd_places_end(sherd_writer *writer, sherd_error *err);
/* Forgets them, whatever became of them. */
void shd_places_free(sherd_writer *writer);
