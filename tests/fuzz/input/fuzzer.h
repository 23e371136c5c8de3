#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// What the fuzzers share. Each is a program with libFuzzer's main function.
extern "C" {
/// The same for all of them.
int LLVMFuzzerInitialize(int* argument_count, char*** arguments);
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                    std::size_t size,
                                    std::size_t max_size,
                                    unsigned seed);
std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* left,
                                      std::size_t left_size,
                                      const std::uint8_t* right,
                                      std::size_t right_size,
                                      std::uint8_t* out,
                                      std::size_t max_out_size,
                                      unsigned seed);
/// libFuzzer's own changes of bytes; returns the new size.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
}

namespace pewter::fuzz {

/// Environment of a fuzzer: no disk cache, and a time limit below libFuzzer's own.
void prepare_environment();

/// Ends the process, which libFuzzer takes for a finding, unless `holds`.
void require(bool holds, const char* what);

/// Copies as much of a text as there is room for; returns how much.
std::size_t put(const std::string& text, std::uint8_t* out, std::size_t max_size);

/// Keeps an input that did not end the process and is worth a look all the same: the compiler
/// crashed inside and was abandoned, or took too long. Goes to the folder `survived` that
/// PEWTER_FUZZ_FINDINGS names, one file for each reason.
void keep_finding(std::span<const std::uint8_t> input, const std::string& reason);

/// Bytes as a file with a path, in memory. Overwritten by the next call.
const std::string& file_with(std::span<const std::uint8_t> bytes);

}  // namespace pewter::fuzz
