/* mpi/together.c - the library's calls by all ranks of a communicator. */
#include <sherd/mpi.h>

#include <inttypes.h>

int sherd_mpi_ckpt_save(sherd_store *store, const char *prefix, MPI_Comm comm, const sherd_ckpt_item *items,
                        size_t count, const sherd_ckpt_save_options *options, sherd_ckpt_save_result *result,
                        sherd_error *err)
{
	sherd_group *group;
	sherd_ckpt_save_options o = {0};
	int rc = sherd_mpi_group_open(&group, comm, err);
	if (rc < 0)
		return rc;
	if (options)
		o = *options;
	o.group = group;
	rc = sherd_ckpt_save_rank(store, prefix, group->rank, items, count, &o, result, err);
	sherd_mpi_group_close(group);
	return rc;
}

int sherd_mpi_ckpt_open(sherd_ckpt **out, sherd_store *store, const char *name, MPI_Comm comm,
                        const sherd_ckpt_options *options, sherd_error *err)
{
	sherd_group *group;
	sherd_ckpt_options o = {0};
	int rc = sherd_mpi_group_open(&group, comm, err);
	if (rc < 0)
		return rc;
	if (options)
		o = *options;
	o.group = group;
	rc = sherd_ckpt_open(out, store, name, &o, err);
	sherd_mpi_group_close(group);
	return rc;
}

/* Batches are dealt by number: other rows would make other batches. */
static int mpi_check_rows(sherd_group *group, const sherd_rows *rows, sherd_error *err)
{
	const uint64_t mine[] = {sherd_rows_total(rows), sherd_rows_width(rows), sherd_rows_shards(rows)};
	uint64_t first[] = {mine[0], mine[1], mine[2]};
	int rc = sherd_group_share(group, SHERD_OK, 0, first, sizeof(first), err);
	if (rc < 0)
		return rc;
	if (first[0] != mine[0] || first[1] != mine[1] || first[2] != mine[2])
		rc = sherd_fail(err, SHERD_ECONFLICT, "ranks-disagree",
		                "%" PRIu64 " rows of %" PRIu64 " here, rank 0 has %" PRIu64 " of %" PRIu64, mine[0],
		                mine[1], first[0], first[1]);
	return sherd_group_agree(group, rc, err);
}

int sherd_mpi_rows_cursor_open(sherd_rows_cursor **out, const sherd_rows *rows, MPI_Comm comm,
                               const sherd_rows_stream_options *options, sherd_error *err)
{
	sherd_group *group;
	sherd_rows_cursor *cursor = NULL;
	sherd_rows_stream_options o = {0};
	int rc = sherd_mpi_group_open(&group, comm, err);
	if (rc < 0)
		return rc;
	if (options)
		o = *options;
	o.rank = group->rank;
	o.world = group->size;
	rc = mpi_check_rows(group, rows, err);
	if (rc == SHERD_OK)
		rc = sherd_group_agree(group, sherd_rows_cursor_open(&cursor, rows, &o, err), err);
	sherd_mpi_group_close(group);
	if (rc == SHERD_OK)
		*out = cursor;
	else
		sherd_rows_cursor_close(cursor);
	return rc;
}
