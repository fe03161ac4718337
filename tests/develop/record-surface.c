/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For test-record: a client of Wayland that shows so many frames, some work for each, to a compositor that
 * never answers.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wayland-client.h>

int main(int argc, char **argv)
{
        static unsigned pixels[200 * 200];
        int frames = argc > 1 ? atoi(argv[1]) : 30, ends[2];
        struct wl_display *display;
        struct wl_registry *registry;
        struct wl_compositor *compositor;
        struct wl_surface *surface;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return 1;
        display = wl_display_connect_to_fd(ends[0]);
        if (!display)
                return 1;
        registry = wl_display_get_registry(display);
        compositor = wl_registry_bind(registry, 1, &wl_compositor_interface, 4);
        surface = wl_compositor_create_surface(compositor);
        for (int i = 0; i < frames; i++) {
                for (int round = 0; round < 40; round++)
                        for (unsigned j = 0; j < sizeof(pixels) / sizeof(*pixels); j++)
                                pixels[j] = pixels[j] * 31 + j;
                wl_surface_damage(surface, 0, 0, 1 + (int)(pixels[0] & 1), 1); /* another request of a surface */
                wl_surface_commit(surface);
                if (wl_display_flush(display) < 0)
                        return 1;
        }
        wl_surface_destroy(surface);
        wl_compositor_destroy(compositor);
        wl_registry_destroy(registry);
        wl_display_disconnect(display);
        close(ends[1]);
        return 0;
}
