/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "util/util.h"
#include "wayland.h"

#define SIDE_MAX 16384 /* pixels; compositors ask for less */

/*
 * All bytes alike: grey in any format. The compositor has its own mapping, so the descriptor can be
 * closed.
 */
static struct wl_buffer *make_plain(struct wl_shm *shm, int shade, int width, int height)
{
        _cleanup_close_ int fd = memfd_create("joulecast-picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        int size = width * height * 4;
        struct wl_shm_pool *pool;
        struct wl_buffer *buffer;
        void *bytes;

        if (fd < 0 || ftruncate(fd, size) < 0)
                return NULL;
        bytes = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED)
                return NULL;
        memset(bytes, shade, (size_t)size);
        munmap(bytes, (size_t)size);
        pool = wl_shm_create_pool(shm, fd, size);
        buffer = wl_shm_pool_create_buffer(pool, 0, width, height, width * 4, WL_SHM_FORMAT_XRGB8888);
        wl_shm_pool_destroy(pool);
        return buffer;
}

static void draw(struct output *output)
{
        int width = output->width ? output->width : output->mode_width;
        int height = output->height ? output->height : output->mode_height;
        int shade = output->wayland->shade;
        struct wl_buffer *buffer, *before = output->buffer;

        if (width == output->shown_width && height == output->shown_height && shade == output->shown_shade)
                return;
        buffer = width > 0 && height > 0 && width <= SIDE_MAX && height <= SIDE_MAX
                         ? make_plain(output->wayland->shm, shade, width, height) : NULL;
        if (!buffer) {
                output->wayland->err = -ENOMEM;
                return;
        }
        output->buffer = buffer;
        output->shown_width = width;
        output->shown_height = height;
        output->shown_shade = shade;
        wl_surface_attach(output->surface, buffer, 0, 0);
        wl_surface_damage(output->surface, 0, 0, width, height);
        wl_surface_commit(output->surface);
        if (before)
                wl_buffer_destroy(before);
}

static void shell_configure(void *data, struct xdg_surface *shell, uint32_t serial)
{
        struct output *output = data;

        xdg_surface_ack_configure(shell, serial);
        draw(output);
}

static const struct xdg_surface_listener shell_listener = { .configure = shell_configure };

static void window_configure(void *data, struct xdg_toplevel *window, int32_t width, int32_t height,
                             struct wl_array *states)
{
        struct output *output = data;

        output->width = width;
        output->height = height;
}

static void window_close(void *data, struct xdg_toplevel *window)
{
        ((struct output *)data)->wayland->err = -ECANCELED;
}

static const struct xdg_toplevel_listener window_listener = {
        .configure = window_configure,
        .close = window_close,
};

void wayland_window_show(struct output *output)
{
        struct wayland *wayland = output->wayland;

        if (output->surface) {
                if (output->shown_width) /* else it is drawn when it has its size */
                        draw(output);
                return;
        }
        output->surface = wl_compositor_create_surface(wayland->compositor);
        output->shell = xdg_wm_base_get_xdg_surface(wayland->base, output->surface);
        xdg_surface_add_listener(output->shell, &shell_listener, output);
        output->window = xdg_surface_get_toplevel(output->shell);
        xdg_toplevel_add_listener(output->window, &window_listener, output);
        xdg_toplevel_set_title(output->window, "joulecast calibrates this screen");
        xdg_toplevel_set_app_id(output->window, "joulecast-picture");
        xdg_toplevel_set_fullscreen(output->window, output->output);
        if (wayland->inhibit)
                output->inhibitor = zwp_idle_inhibit_manager_v1_create_inhibitor(wayland->inhibit,
                                                                                 output->surface);
        wl_surface_commit(output->surface);
}

bool wayland_window_is_drawn(const struct output *output)
{
        return output->shown_width && output->shown_shade == output->wayland->shade;
}

void wayland_window_take(struct output *output)
{
        if (output->inhibitor)
                zwp_idle_inhibitor_v1_destroy(output->inhibitor);
        if (output->window)
                xdg_toplevel_destroy(output->window);
        if (output->shell)
                xdg_surface_destroy(output->shell);
        if (output->surface)
                wl_surface_destroy(output->surface);
        if (output->buffer)
                wl_buffer_destroy(output->buffer);
        output->inhibitor = NULL;
        output->window = NULL;
        output->shell = NULL;
        output->surface = NULL;
        output->buffer = NULL;
        output->shown_width = output->shown_height = 0;
}
