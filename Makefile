# Short names for what CMake and the scripts in tools/ do. "make" alone lists them.
PREFIX ?= /usr/local
DESTDIR ?=
TIME ?= 60
TARGET ?=

.PHONY: help demo check deps build bench bench-large fuzz install asan tsan clang crash coverage interop-nd4j interop-python interop-rfdb interop-s3 interop-browser interop-mpi format lint symbols clean

help:
	@echo 'make demo      build, and see what Sherd does, on data made on the spot'
	@echo 'make check     build, and run every test'
	@echo ''
	@echo 'make build     build library and command into build/release'
	@echo 'make install   install them [PREFIX=/usr/local] [DESTDIR=]'
	@echo 'make bench     run the benchmarks (fetches the real graph server by npm, 20 MB, where it can)'
	@echo 'make bench-large  how graphs grow [NODES=1000000; 50000000 takes 35 GB of disk]'
	@echo 'make wheel     build and audit the package for Python (fetches its tools by pip)'
	@echo 'make deps      install the Debian packages that are missing (the others do it by themselves)'
	@echo ''
	@echo 'make asan      all tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make tsan      all tests under ThreadSanitizer'
	@echo 'make clang     all tests, built by clang'
	@echo 'make crash     the tests that kill processes, with many more kills [SHERD_KILLS=1000]'
	@echo 'make fuzz      run the fuzz targets [TIME=60 seconds each] [TARGET=json]'
	@echo 'make coverage  all tests, then the share of lines that they ran'
	@echo 'make interop-nd4j'
	@echo '               ND4J 1.0.0-M2.1 and Sherd read what the other wrote (fetches ND4J by Maven, 130 MB)'
	@echo 'make interop-python'
	@echo '               torch, safetensors, gguf, numpy, onnx, transformers and Sherd read what the other wrote (fetches'
	@echo '               them by pip into the cache folder of the user, 6 GB)'
	@echo 'make interop-rfdb'
	@echo '               the real graph server and Sherd read what the other wrote (fetches the server by npm, 20 MB)'
	@echo 'make interop-s3'
	@echo '               stores of s3:// against Ceph radosgw, started below a temporary folder (Debian packages, 60 MB)'
	@echo 'make interop-browser'
	@echo '               reports of sherd in a headless Chromium (Debian package, 100 MB)'
	@echo 'make interop-mpi'
	@echo '               ranks of Open MPI save and load together (Debian packages, 60 MB)'
	@echo 'make lint      formatting, clang-tidy, layers, names, sizes, reasons, man pages'
	@echo 'make format    format every C file'
	@echo 'make symbols   write the list of exported symbols anew from the headers'
	@echo 'make clean     remove build/'

demo: build
	@tools/demo

check: deps
	@tools/check release

deps:
	@tools/deps build

build: deps
	@tools/build release

install: build
	DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

bench:
	@tools/deps build bench
	@tools/build release
	@tools/rfdb-server || true
	@tools/bench
	@tools/bench-python || true

bench-large:
	@tools/deps build bench
	@tools/build release
	@SHERD_BENCH_NODES=$(or $(NODES),1000000) tools/bench graph_large

asan tsan: deps
	@tools/check $@

clang:
	@tools/deps build lint
	@tools/check clang

crash: deps
	@SHERD_KILLS=$${SHERD_KILLS:-1000} tools/check release '^crash/|kill'

interop-rfdb: build
	@tools/interop-rfdb build/release

interop-python: build
	@tools/deps python
	@tools/interop-python build/release

interop-s3: build
	@tools/interop-s3 build/release

interop-browser: build
	@tools/interop-browser build/release

interop-mpi:
	@tools/interop-mpi

fuzz:
	@tools/deps build lint
	@tools/fuzz '$(TIME)' $(TARGET)

coverage: deps
	@tools/check coverage
	@tools/coverage build/coverage

interop-nd4j:
	@tools/deps build nd4j
	@tools/build release
	@tools/interop-nd4j

.PHONY: wheel
wheel: deps
	@tools/wheel

format:
	@tools/deps lint
	@tools/lint --fix-format

lint:
	@tools/deps build lint
	@tools/lint

symbols:
	tools/symbols > src/libsherd.sym.new
	mv src/libsherd.sym.new src/libsherd.sym
	for list in $(wildcard src/*/libsherd_*.sym tests/component/*/libsherd_*.sym); do \
		tools/symbols "$$(dirname "$$list")" > "$$list.new" && mv "$$list.new" "$$list" || exit 1; done

clean:
	rm -rf build
