#include "codec/igzip.h"

#include <isa-l/igzip_lib.h>

#include <stdlib.h>

struct sherd_igzip {
	struct isal_zstream stream;
	uint8_t work[ISAL_DEF_LVL1_DEFAULT];
};

sherd_igzip *sherd_igzip_open(void)
{
	return malloc(sizeof(sherd_igzip));
}

void sherd_igzip_close(sherd_igzip *z)
{
	free(z);
}

size_t sherd_igzip_pack(sherd_igzip *z, const void *in, size_t len, void *out, size_t room)
{
	struct isal_zstream *s = &z->stream;
	isal_deflate_stateless_init(s);
	s->level = 1;
	s->level_buf = z->work;
	s->level_buf_size = sizeof(z->work);
	s->end_of_stream = 1;
	s->flush = NO_FLUSH;
	s->next_in = (uint8_t *)(uintptr_t)in; /* ISA-L does not write through it */
	s->avail_in = (uint32_t)len;
	s->next_out = out;
	s->avail_out = (uint32_t)room;
	return isal_deflate_stateless(s) == COMP_OK ? s->total_out : 0;
}
