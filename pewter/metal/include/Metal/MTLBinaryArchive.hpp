#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class ComputePipelineDescriptor;
class Device;
class FunctionDescriptor;
class Library;

_MTL_ENUM(NS::UInteger, BinaryArchiveError){
    BinaryArchiveErrorNone = 0,
    BinaryArchiveErrorInvalidFile = 1,
    BinaryArchiveErrorUnexpectedElement = 2,
    BinaryArchiveErrorCompilationFailure = 3,
    BinaryArchiveErrorInternalError = 4,
};

_MTL_CONST(NS::ErrorDomain, BinaryArchiveDomain);

class _MTL_EXPORT BinaryArchiveDescriptor : public NS::Copying<BinaryArchiveDescriptor> {
 public:
  static BinaryArchiveDescriptor* alloc();
  BinaryArchiveDescriptor* init();

  NS::URL* url() const;
  void setUrl(const NS::URL* url);
};

/// Machine code of pipelines, for this kind of processor. Safe to use from any thread.
class _MTL_EXPORT BinaryArchive : public NS::Referencing<BinaryArchive> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;

  /// Compiles what a pipeline with this descriptor runs, as far as it is known before a dispatch.
  bool addComputePipelineFunctions(const ComputePipelineDescriptor* descriptor, NS::Error** error);
  /// Compiles a kernel as a pipeline without a descriptor would.
  bool addFunction(const FunctionDescriptor* descriptor, const Library* library, NS::Error** error);

  bool serializeToURL(const NS::URL* url, NS::Error** error);
};

}  // namespace MTL
