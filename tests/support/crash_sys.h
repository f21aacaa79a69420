/* tests/support/crash_sys.h - what a power loss may leave of a local store.
 *
 * A crash_sys is a table of system calls (store/local/sys.h) that passes every call
 * through to a real folder and keeps a log of those that change it: bytes
 * written to a file, names made, linked, renamed, removed, and syncs. Afterwards
 * it builds, for a power loss after any point of that log, the folders that a
 * disk may show:
 *
 * - An fsync of a file makes all bytes written to it before durable.
 * - An fsync of a folder makes all names changed in it before durable: links,
 *   renames, removals, files and folders made in it. It says nothing about the
 *   folder's own name in its parent, nor about the bytes of the files.
 * - Of what is not durable any subset may have reached the disk. A rename is one
 *   step: it happened or not. An unsynced write may be there, not there, torn at
 *   a page (what follows the tear is not there), or have left zeros.
 * - Files without a name are gone.
 *
 * Up to CRASH_EXHAUSTIVE pending operations every subset is built (with all ways
 * to damage writes as long as these are at most four times CRASH_SAMPLES, else
 * with samples of them); above that CRASH_SAMPLES states chosen by a fixed seed,
 * "none" and "all" among them. This is more than ext4 or xfs would do; what
 * survives it survives them.
 *
 * Use: hand crash_sys_table() to shd_store_open_local_sys(), do the work, note
 * crash_sys_points() at the moments that matter (for instance when a commit has
 * returned), and then walk:
 *
 *	crash_sys *c = crash_sys_new(folder);
 *	... shd_store_open_local_sys(&store, folder, NULL, crash_sys_table(c), err) ...
 *	size_t committed = crash_sys_points(c);
 *	for (size_t k = 0; k <= crash_sys_points(c); k++)
 *		crash_sys_states(c, k, check, &arg);      // from committed on the new set must be there
 *	crash_sys_free(c);
 *
 * What is in the folder when crash_sys_new() is called counts as durable.
 * Everything is kept in memory: use small files. One log serves several stores
 * and threads, but all must work below this one folder. */
#pragma once

#include "store/local/sys.h"

#include <stdbool.h>

#define CRASH_EXHAUSTIVE 8
#define CRASH_SAMPLES 256
#define CRASH_PAGE 4096

typedef struct crash_sys crash_sys;

/* Takes a snapshot of the folder as the durable beginning. Aborts the program when it cannot work. */
crash_sys *crash_sys_new(const char *folder);
/* The same over another table, for instance one that refuses some calls. */
crash_sys *crash_sys_new_over(const char *folder, const shd_sys *below);
void crash_sys_free(crash_sys *c);
const shd_sys *crash_sys_table(crash_sys *c);
/* Negative control: from now on syncs return success, and do and record nothing. */
void crash_sys_drop_syncs(crash_sys *c, bool files, bool folders);

/* How many operations the log holds: a power loss "at point k" comes after k of them. */
size_t crash_sys_points(crash_sys *c);
/* A short description of the kth operation, for messages. */
const char *crash_sys_describe(crash_sys *c, size_t k);

/* Builds every state that a power loss at point k may leave into a fresh folder, one after the other, and calls
 * each(); the folder is removed afterwards. States that look the same are shown once per point. Returns how many. */
typedef void crash_state_fn(const char *folder, void *arg);
size_t crash_sys_states(crash_sys *c, size_t k, crash_state_fn *each, void *arg);
