/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A GPU by EGL, one file; what is drawn on it by OpenGL ES, another. */

#include <stdbool.h>
#include <stddef.h>

struct gpu;

/*
 * The first GPU that has a render node, with a context of ours that has no screen. @software: take a renderer
 * that computes on the CPU, and no other. -ENODEV: there is none.
 */
int gpu_device_open(bool software, struct gpu **ret);
void gpu_device_close(struct gpu *gpu);

/* Of the context that is current. -ENOTSUP: the shader does not compile here; -EIO: it draws nothing. */
int gpu_draw_open(void);
void gpu_draw(unsigned times);
int gpu_draw_finish(void); /* waits until it is drawn. -EIO: the GPU was reset */
void gpu_renderer(char *buf, size_t size);
/* Whether the name is that of a renderer which computes on the CPU. */
bool gpu_is_software(const char *renderer);
