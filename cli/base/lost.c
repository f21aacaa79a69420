#include "base/lost.h"

void cli_lost_tell(void *arg, const sherd_error *lost)
{
	cli_lost *l = arg;
	cli_out *out = &l->cli->out;
	sherd_error named = *lost;
	l->any = true;
	cli_place_name(l->place, &named);
	if (!out->json) {
		cli_out_problem(out, &named, true);
		return;
	}
	if (!out->lost)
		cli_doc_open(&l->list, '[');
	out->lost = &l->list;
	cli_doc_error(&l->list, &named);
}

int cli_lost_check(const cli_lost *lost, const sherd_bundle *left, sherd_error *err)
{
	if (!lost->any || sherd_bundle_count(left))
		return SHERD_OK;
	return cli_fail(err, SHERD_ECORRUPT, "missing-piece", "no tensor is whole: nothing is written");
}

int cli_lost_sift(sherd_bundle **out, cli_lost *lost, const sherd_bundle *from, bool by_name, sherd_error *err)
{
	cli_state *cli = lost->cli;
	sherd_bundle *whole;
	sherd_bundle_options options = {
		.pool = cli->pool, .progress = &cli->progress, .lost = cli_lost_tell, .lost_arg = lost};
	TRY(sherd_bundle_sift(&whole, from, &options, err));
	size_t count = sherd_bundle_count(whole), all = sherd_bundle_count(from);
	int rc = all ? cli_lost_check(lost, whole, err) : SHERD_OK;
	if (rc == SHERD_OK && by_name && count < all)
		rc = cli_fail(err, SHERD_ECORRUPT, "missing-piece",
		              "not all tensors that were asked for are whole: nothing is written");
	if (rc < 0)
		sherd_bundle_close(whole);
	else
		*out = whole;
	return rc;
}

void cli_lost_done(cli_lost *lost)
{
	if (lost->cli && lost->cli->out.lost == &lost->list)
		lost->cli->out.lost = NULL;
	cli_doc_done(&lost->list);
}
