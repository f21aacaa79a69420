#include "lost.h"

void sherd_lost_tell(void *arg, const sherd_error *lost)
{
	sherd_lost *l = arg;
	sherd_out *out = &l->cli->out;
	sherd_error named = *lost;
	sherd_place_name(l->place, &named);
	if (!out->json) {
		sherd_out_problem(out, &named, true);
		return;
	}
	if (!out->lost)
		sherd_doc_open(&l->list, '[');
	out->lost = &l->list;
	sherd_doc_error(&l->list, &named);
}

void sherd_lost_done(sherd_lost *lost)
{
	if (lost->cli && lost->cli->out.lost == &lost->list)
		lost->cli->out.lost = NULL;
	sherd_doc_done(&lost->list);
}
