/* codec/igzip_lib.h - ISA-L's deflate and inflate, for the two files that wrap them. */
#ifndef SHERD_CODEC_IGZIP_LIB_H
#define SHERD_CODEC_IGZIP_LIB_H

#include <isa-l/igzip_lib.h>

#endif
