/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For the test "desktop record": windows of Wayland that write down, a line each, which keys and buttons
 * they get. Ctrl+d opens a second window; Return closes that one; to be asked to close ends the program. It
 * works a second then, to be worth recording.
 *
 * Usage: record-toplevel LOG; the keymap is written to LOG.keymap
 */

#include <linux/input-event-codes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <wayland-client.h>
#include "xdg-shell-client-protocol.h"

#define WIDTH 300
#define HEIGHT 200

struct window {
        const char *name;
        struct wl_surface *surface;
        struct xdg_surface *xdg;
        struct xdg_toplevel *toplevel;
};

static struct wl_compositor *compositor;
static struct wl_shm *shm;
static struct xdg_wm_base *base;
static struct wl_seat *seat;
static struct window windows[2] = { { .name = "Main" }, { .name = "Dialog" } }, *typed_in, *pointed_at;
static unsigned modifiers;
static int at_x, at_y;
static bool ended;
static FILE *record;
static const char *record_path;

static struct wl_buffer *white(void)
{
        int size = WIDTH * HEIGHT * 4, fd = memfd_create("white", MFD_CLOEXEC);
        struct wl_shm_pool *pool;
        struct wl_buffer *buffer;

        if (fd < 0 || ftruncate(fd, size) < 0)
                exit(1);
        pool = wl_shm_create_pool(shm, fd, size);
        buffer = wl_shm_pool_create_buffer(pool, 0, WIDTH, HEIGHT, WIDTH * 4, WL_SHM_FORMAT_XRGB8888);
        wl_shm_pool_destroy(pool);
        close(fd);
        return buffer;
}

static void configure(void *data, struct xdg_surface *xdg, uint32_t serial)
{
        struct window *window = data;

        xdg_surface_ack_configure(xdg, serial);
        wl_surface_attach(window->surface, white(), 0, 0);
        wl_surface_damage(window->surface, 0, 0, WIDTH, HEIGHT);
        wl_surface_commit(window->surface);
}

static const struct xdg_surface_listener surface_listener = { configure };

static void toplevel_configure(void *data, struct xdg_toplevel *toplevel, int32_t width, int32_t height,
                               struct wl_array *states)
{
}

static void toplevel_close(void *data, struct xdg_toplevel *toplevel)
{
        ended = true;
}

static const struct xdg_toplevel_listener toplevel_listener = { .configure = toplevel_configure,
                                                                .close = toplevel_close };

static void open_window(struct window *window)
{
        window->surface = wl_compositor_create_surface(compositor);
        window->xdg = xdg_wm_base_get_xdg_surface(base, window->surface);
        xdg_surface_add_listener(window->xdg, &surface_listener, window);
        window->toplevel = xdg_surface_get_toplevel(window->xdg);
        xdg_toplevel_add_listener(window->toplevel, &toplevel_listener, window);
        xdg_toplevel_set_title(window->toplevel, window->name);
        wl_surface_commit(window->surface);
}

static void close_window(struct window *window)
{
        xdg_toplevel_destroy(window->toplevel);
        xdg_surface_destroy(window->xdg);
        wl_surface_destroy(window->surface);
        window->surface = NULL;
}

static struct window *find(struct wl_surface *surface)
{
        return surface && surface == windows[1].surface ? &windows[1] : &windows[0];
}

static void keymap(void *data, struct wl_keyboard *keyboard, uint32_t format, int32_t fd, uint32_t size)
{
        char path[4096];
        void *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        FILE *file;

        snprintf(path, sizeof(path), "%s.keymap", record_path);
        file = fopen(path, "w");
        if (text == MAP_FAILED || !file || fwrite(text, 1, size, file) != size)
                exit(1);
        fclose(file);
        munmap(text, size);
        close(fd);
}

static void keyboard_enter(void *data, struct wl_keyboard *keyboard, uint32_t serial, struct wl_surface *surface,
                           struct wl_array *keys)
{
        typed_in = find(surface);
}

static void keyboard_leave(void *data, struct wl_keyboard *keyboard, uint32_t serial, struct wl_surface *surface)
{
}

static void key(void *data, struct wl_keyboard *keyboard, uint32_t serial, uint32_t time, uint32_t code, uint32_t state)
{
        fprintf(record, "%s %s %u with %u\n", typed_in->name, state ? "key" : "up", code, modifiers);
        if (state && code == KEY_D && modifiers == 4 && !windows[1].surface)
                open_window(&windows[1]);
        else if (state && code == KEY_ENTER && windows[1].surface)
                close_window(&windows[1]);
}

static void keyboard_modifiers(void *data, struct wl_keyboard *keyboard, uint32_t serial, uint32_t depressed,
                               uint32_t latched, uint32_t locked, uint32_t group)
{
        modifiers = depressed;
}

static const struct wl_keyboard_listener keyboard_listener = { .keymap = keymap,
                                                               .enter = keyboard_enter,
                                                               .leave = keyboard_leave,
                                                               .key = key,
                                                               .modifiers = keyboard_modifiers };

static void pointer_enter(void *data, struct wl_pointer *pointer, uint32_t serial, struct wl_surface *surface,
                          wl_fixed_t x, wl_fixed_t y)
{
        pointed_at = find(surface);
        at_x = wl_fixed_to_int(x);
        at_y = wl_fixed_to_int(y);
}

static void pointer_leave(void *data, struct wl_pointer *pointer, uint32_t serial, struct wl_surface *surface)
{
}

static void motion(void *data, struct wl_pointer *pointer, uint32_t time, wl_fixed_t x, wl_fixed_t y)
{
        at_x = wl_fixed_to_int(x);
        at_y = wl_fixed_to_int(y);
}

static void button(void *data, struct wl_pointer *pointer, uint32_t serial, uint32_t time, uint32_t number,
                   uint32_t state)
{
        fprintf(record, "%s %s %u at %d %d with %u\n", pointed_at->name, state ? "press" : "release", number,
                at_x, at_y, modifiers);
}

static void axis(void *data, struct wl_pointer *pointer, uint32_t time, uint32_t which, wl_fixed_t value)
{
        fprintf(record, "%s axis %u by %d at %d %d with %u\n", pointed_at->name, which,
                wl_fixed_to_int(value), at_x, at_y, modifiers);
}

static const struct wl_pointer_listener pointer_listener = {
        .enter = pointer_enter, .leave = pointer_leave, .motion = motion, .button = button, .axis = axis
};

static void ping(void *data, struct xdg_wm_base *from, uint32_t serial)
{
        xdg_wm_base_pong(from, serial);
}

static const struct xdg_wm_base_listener base_listener = { ping };

static void new_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version)
{
        if (strcmp(interface, wl_compositor_interface.name) == 0)
                compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 1);
        else if (strcmp(interface, wl_shm_interface.name) == 0)
                shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
        else if (strcmp(interface, xdg_wm_base_interface.name) == 0)
                base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
        else if (strcmp(interface, wl_seat_interface.name) == 0)
                seat = wl_registry_bind(registry, name, &wl_seat_interface, 1);
}

static void global_gone(void *data, struct wl_registry *registry, uint32_t name)
{
}

static const struct wl_registry_listener registry_listener = { new_global, global_gone };

static void work(void)
{
        volatile unsigned sum = 0;

        while (clock() < CLOCKS_PER_SEC)
                sum = sum * 31 + 7;
}

int main(int argc, char **argv)
{
        struct wl_display *display = wl_display_connect(NULL);

        record_path = argc > 1 ? argv[1] : "/dev/null";
        record = fopen(record_path, "w");
        if (!display || !record)
                return 1;
        setvbuf(record, NULL, _IOLBF, 0);
        wl_registry_add_listener(wl_display_get_registry(display), &registry_listener, NULL);
        if (wl_display_roundtrip(display) < 0 || !compositor || !shm || !base || !seat)
                return 1;
        xdg_wm_base_add_listener(base, &base_listener, NULL);
        wl_keyboard_add_listener(wl_seat_get_keyboard(seat), &keyboard_listener, NULL);
        wl_pointer_add_listener(wl_seat_get_pointer(seat), &pointer_listener, NULL);
        open_window(&windows[0]);
        while (!ended && wl_display_dispatch(display) >= 0)
                ;
        fprintf(record, "ended, DISPLAY %s\n", getenv("DISPLAY") ? "set" : "not set");
        fclose(record);
        wl_display_disconnect(display);
        work();
        return 0;
}
