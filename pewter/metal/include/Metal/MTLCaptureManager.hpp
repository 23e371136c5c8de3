#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class CaptureScope;
class CommandQueue;
class Device;

_MTL_CONST(NS::ErrorDomain, CaptureErrorDomain);

_MTL_ENUM(NS::Integer, CaptureError){
    CaptureErrorNotSupported = 1,
    CaptureErrorAlreadyCapturing = 2,
    CaptureErrorInvalidDescriptor = 3,
};

_MTL_ENUM(NS::Integer, CaptureDestination){
    CaptureDestinationDeveloperTools = 1,
    CaptureDestinationGPUTraceDocument = 2,
};

class _MTL_EXPORT CaptureDescriptor : public NS::Copying<CaptureDescriptor> {
 public:
  static CaptureDescriptor* alloc();
  CaptureDescriptor* init();

  /// A device, a command queue or a capture scope.
  NS::Object* captureObject() const;
  void setCaptureObject(NS::Object* captureObject);

  MTL::CaptureDestination destination() const;
  void setDestination(MTL::CaptureDestination destination);

  NS::URL* outputURL() const;
  void setOutputURL(const NS::URL* outputURL);
};

/// The process's one recorder of device work.
class _MTL_EXPORT CaptureManager : public NS::Referencing<CaptureManager> {
 public:
  static CaptureManager* alloc();
  static CaptureManager* sharedCaptureManager();
  CaptureManager* init();

  CaptureScope* newCaptureScope(const Device* device);
  CaptureScope* newCaptureScope(const CommandQueue* commandQueue);

  bool supportsDestination(MTL::CaptureDestination destination);

  bool startCapture(const CaptureDescriptor* descriptor, NS::Error** error);
  void startCapture(const Device* device);
  void startCapture(const CommandQueue* commandQueue);
  void startCapture(const CaptureScope* captureScope);
  void stopCapture();

  CaptureScope* defaultCaptureScope() const;
  void setDefaultCaptureScope(const CaptureScope* defaultCaptureScope);

  bool isCapturing() const;
};

}  // namespace MTL
