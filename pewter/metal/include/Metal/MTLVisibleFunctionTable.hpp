#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class FunctionHandle;

class _MTL_EXPORT VisibleFunctionTableDescriptor
    : public NS::Copying<VisibleFunctionTableDescriptor> {
 public:
  static VisibleFunctionTableDescriptor* alloc();
  VisibleFunctionTableDescriptor* init();
  static VisibleFunctionTableDescriptor* visibleFunctionTableDescriptor();

  NS::UInteger functionCount() const;
  void setFunctionCount(NS::UInteger functionCount);
};

/// The functions that a kernel calls by their place in a `visible_function_table`.
///
/// Belongs to the pipeline that made it, and to those that were made from that one.
class _MTL_EXPORT VisibleFunctionTable : public NS::Referencing<VisibleFunctionTable, Resource> {
 public:
  MTL::ResourceID gpuResourceID() const;

  /// Null takes the function away.
  void setFunction(const FunctionHandle* function, NS::UInteger index);
  void setFunctions(const FunctionHandle* const functions[], NS::Range range);
};

}  // namespace MTL
