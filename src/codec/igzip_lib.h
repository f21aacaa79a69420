/* codec/igzip_lib.h - ISA-L's deflate and inflate, for the two files that wrap them. */
#pragma once

#include <isa-l/igzip_lib.h>
