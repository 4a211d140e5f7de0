# The project's front door; the work is done by CMake (CMakePresets.json) and the scripts.
#
#     make                    build the release preset into build/release
#     make run                build, train 8 queens, print the memory report
#     make test               build and run every test, a line for each kind; tests/run.sh --failed runs again what
#                             failed
#     make check-heavy        every test under address and undefined-behaviour sanitizers, all validity checks on
#     make check-threads      unit and model tests under the thread sanitizer
#     make check-clang        every test, built by clang
#     make check-hostile      only the sweeps that make the nth allocation fail
#     make bench              build and run the measurements, against PyTorch where they say so
#     make fuzz               mutate the example and golden programs for FUZZ_SECONDS (60) under the sanitizers, then
#                             FUZZ_PROGRAMS (2000) random programs, each compiled in every way and interpreted, then
#                             each reader of files for FUZZ_SECONDS (needs clang)
#     make mutate             change one operator of MUTATE (src/planner) at a time, MUTANTS (200) times, and list the
#                             changes that no test notices (scripts/mutate.sh says more)
#     make format             clang-format over all C files
#     make install PREFIX=…   headers, libraries, command, pkg-config file, CMake package, manual pages, completions of
#                             shells (default /usr/local)
#     make clean              remove build/
#
# PRESET=release|debug|asan|tsan|clang chooses another build for build, run, test, check-hostile and install.
PRESET ?= release
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ_PROGRAMS ?= 2000
FUZZ_SEED ?= 1
MUTATE ?= src/planner
MUTANTS ?= 200
MUTATE_SEED ?= 1
BUILD := build/$(PRESET)
GROUPS_OF_clang := clang
SETUP := scripts/setup.sh build

.PHONY: all build setup run test check-heavy check-threads check-clang check-hostile bench fuzz mutate format install clean
.DEFAULT_GOAL := all
all: build

setup:
	@$(SETUP) $(GROUPS_OF_$(PRESET))

$(BUILD)/build.ninja: CMakePresets.json | setup
	@cmake --preset $(PRESET)

build: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD)

run: build
	@$(BUILD)/masu run examples/n_queens.tl --report

test: build
	@tests/run.sh --build $(BUILD)

check-heavy:
	@$(MAKE) --no-print-directory test PRESET=asan

check-threads:
	@$(MAKE) --no-print-directory build PRESET=tsan
	@tests/run.sh --build build/tsan --only unit,model

check-clang:
	@$(MAKE) --no-print-directory test PRESET=clang

check-hostile: build
	@tests/run.sh --build $(BUILD) --only hostile

bench:
	@scripts/setup.sh build bench
	@$(MAKE) --no-print-directory build PRESET=release
	@scripts/bench.sh build/release

fuzz:
	@$(MAKE) --no-print-directory build PRESET=asan
	@scripts/fuzz.sh build/asan $(FUZZ_SECONDS)
	@$(MAKE) --no-print-directory build PRESET=release
	@build/release/tests/fuzz/programs/test_programs $(FUZZ_PROGRAMS) $(FUZZ_SEED) build
	@scripts/setup.sh build clang
	@scripts/fuzz_files.sh build/release/masu $(FUZZ_SECONDS)

mutate: setup
	@scripts/mutate.sh --seed $(MUTATE_SEED) --count $(MUTANTS) $(MUTATE)

format:
	@scripts/setup.sh build format
	@find include src tests bench integrations -name '*.[ch]' 2>/dev/null | xargs clang-format -i

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build
