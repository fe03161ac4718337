/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The GPU by EGL (egl.c), and the load on it by OpenGL ES (gles.c). */

#include <stdbool.h>
#include <stddef.h>

struct gpu;

/*
 * The first GPU with a render node, with a context without a screen. @software: only a renderer on the CPU.
 * -ENODEV: none.
 */
int gpu_device_open(bool software, struct gpu **ret);
void gpu_device_close(struct gpu *gpu);

/* For the current context. -ENOTSUP: the shader does not compile; -EIO: nothing is drawn. */
int gpu_draw_open(void);
void gpu_draw(unsigned times);
int gpu_draw_finish(void); /* waits for completion. -EIO: the GPU was reset */
void gpu_renderer(char *buf, size_t size);
/* Is it the name of a renderer on the CPU? */
bool gpu_is_software(const char *renderer);
