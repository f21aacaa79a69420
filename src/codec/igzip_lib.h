/* codec/igzip_lib.h - ISA-L's deflate and inflate, for the two files that wrap them. */
#ifndef SHD_CODEC_IGZIP_LIB_H
#define SHD_CODEC_IGZIP_LIB_H

#include <isa-l/igzip_lib.h>

#endif
