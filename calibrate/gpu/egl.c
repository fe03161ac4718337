/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu-load.h"

#define DEVICES_MAX 16

struct gpu {
        EGLDisplay display;
        EGLContext context;
};

struct extensions { /* EGL client extensions, which are not in libEGL's symbol table */
        PFNEGLQUERYDEVICESEXTPROC query_devices;
        PFNEGLQUERYDEVICESTRINGEXTPROC query_string;
        PFNEGLGETPLATFORMDISPLAYEXTPROC get_display;
};

static int load_extensions(struct extensions *ret)
{
        *ret = (struct extensions){
                .query_devices = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT"),
                .query_string = (PFNEGLQUERYDEVICESTRINGEXTPROC)eglGetProcAddress("eglQueryDeviceStringEXT"),
                .get_display = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT"),
        };
        return ret->query_devices && ret->query_string && ret->get_display ? 0 : -ENODEV;
}

static bool has(const char *list, const char *word)
{
        return list && strstr(list, word);
}

/* A GPU of this machine has a render node, or at least a card node. @software: Mesa's software renderer instead. */
static bool is_wanted(const struct extensions *extensions, EGLDeviceEXT device, bool software)
{
        const char *list = extensions->query_string(device, EGL_EXTENSIONS);

        if (software)
                return has(list, "EGL_MESA_device_software");
        if (has(list, "EGL_EXT_device_drm_render_node"))
                return extensions->query_string(device, EGL_DRM_RENDER_NODE_FILE_EXT) != NULL;
        return has(list, "EGL_EXT_device_drm") && !has(list, "EGL_MESA_device_software");
}

static int make_context(struct gpu *gpu)
{
        static const EGLint wanted[] = { EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT,
                                         EGL_NONE };
        static const EGLint version[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };
        EGLConfig config;
        EGLint n = 0;

        if (!has(eglQueryString(gpu->display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context") ||
            !eglBindAPI(EGL_OPENGL_ES_API) || !eglChooseConfig(gpu->display, wanted, &config, 1, &n) ||
            n == 0)
                return -ENODEV;
        gpu->context = eglCreateContext(gpu->display, config, EGL_NO_CONTEXT, version);
        if (gpu->context == EGL_NO_CONTEXT ||
            !eglMakeCurrent(gpu->display, EGL_NO_SURFACE, EGL_NO_SURFACE, gpu->context))
                return -ENODEV;
        return 0;
}

static int open_one(const struct extensions *extensions, EGLDeviceEXT device, bool software, struct gpu *gpu)
{
        char renderer[128];
        int err;

        gpu->display = extensions->get_display(EGL_PLATFORM_DEVICE_EXT, device, NULL);
        if (gpu->display == EGL_NO_DISPLAY || !eglInitialize(gpu->display, NULL, NULL))
                return -ENODEV;
        err = make_context(gpu);
        if (err)
                return err;
        gpu_renderer(renderer, sizeof(renderer));
        return gpu_is_software(renderer) == software ? 0 : -ENODEV;
}

static void let_go(struct gpu *gpu)
{
        if (gpu->display == EGL_NO_DISPLAY)
                return;
        eglMakeCurrent(gpu->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (gpu->context != EGL_NO_CONTEXT)
                eglDestroyContext(gpu->display, gpu->context);
        eglTerminate(gpu->display);
        *gpu = (struct gpu){ .display = EGL_NO_DISPLAY, .context = EGL_NO_CONTEXT };
}

int gpu_device_open(bool software, struct gpu **ret)
{
        struct extensions extensions;
        EGLDeviceEXT devices[DEVICES_MAX];
        EGLint n = 0;
        struct gpu *gpu;
        int err = load_extensions(&extensions);

        if (err)
                return err;
        if (!extensions.query_devices(DEVICES_MAX, devices, &n))
                return -ENODEV;
        gpu = calloc(1, sizeof(*gpu));
        if (!gpu)
                return -ENOMEM;
        for (EGLint i = 0; i < n; i++) {
                if (!is_wanted(&extensions, devices[i], software))
                        continue;
                if (open_one(&extensions, devices[i], software, gpu) == 0) {
                        *ret = gpu;
                        return 0;
                }
                let_go(gpu);
        }
        free(gpu);
        return -ENODEV;
}

void gpu_device_close(struct gpu *gpu)
{
        let_go(gpu);
        free(gpu);
}
