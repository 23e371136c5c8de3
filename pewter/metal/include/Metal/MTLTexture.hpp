#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

_MTL_ENUM(NS::UInteger, TextureType){
    TextureType1D = 0,
    TextureType1DArray = 1,
    TextureType2D = 2,
    TextureType2DArray = 3,
    TextureType2DMultisample = 4,
    TextureTypeCube = 5,
    TextureTypeCubeArray = 6,
    TextureType3D = 7,
    TextureType2DMultisampleArray = 8,
    TextureTypeTextureBuffer = 9,
};

}  // namespace MTL
