#include <sherd/memory.h>

#include <stdlib.h>

void sherd_free(void *memory)
{
	free(memory);
}
