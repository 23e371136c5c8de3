#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class FunctionConstantValues;

_MTL_OPTIONS(NS::UInteger, FunctionOptions){
    FunctionOptionNone = 0,
    FunctionOptionCompileToBinary = 1,
    FunctionOptionStoreFunctionInMetalScript = 2,
    FunctionOptionStoreFunctionInMetalPipelinesScript = 2,
    FunctionOptionFailOnBinaryArchiveMiss = 4,
};

class _MTL_EXPORT FunctionDescriptor : public NS::Copying<FunctionDescriptor> {
 public:
  static FunctionDescriptor* alloc();
  FunctionDescriptor* init();
  static FunctionDescriptor* functionDescriptor();

  NS::String* name() const;
  void setName(const NS::String* name);

  NS::String* specializedName() const;
  void setSpecializedName(const NS::String* specializedName);

  FunctionConstantValues* constantValues() const;
  void setConstantValues(const FunctionConstantValues* constantValues);

  MTL::FunctionOptions options() const;
  void setOptions(MTL::FunctionOptions options);

  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);
};

}  // namespace MTL
