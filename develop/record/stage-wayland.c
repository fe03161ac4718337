/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A Wayland compositor of its own for a program, with input by virtual keyboard and pointer. */

#include <errno.h>
#include <linux/input-event-codes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <wayland-client.h>

#include "answer/options.h"
#include "compositor.h"
#include "desktop/foreign-toplevel.h"
#include "letter.h"
#include "player.h"
#include "us-keyboard.h"
#include "util/units.h"
#include "util/util.h"
#include "util/wayland-listen.h"
#include "wlr-input.h"

#define TITLE_MAX 256
#define WHEEL_STEP 15 /* scroll distance of a wheel's notch, as in libinput */

/* Sends a request that makes no new proxy and does not destroy its own. */
#define SEND(proxy, opcode, ...)                                                                             \
        wl_proxy_marshal_flags(proxy, opcode, NULL, wl_proxy_get_version(proxy), 0, __VA_ARGS__)

struct toplevel {
        struct toplevel *next;
        struct wayland *owner;
        struct wl_proxy *handle;
        char title[TITLE_MAX];
};

struct wayland {
        struct stage stage;
        struct compositor compositor;
        unsigned width, height;
        struct wl_display *display;
        struct wl_registry *registry;
        struct wl_seat *seat;
        struct wl_shm *shm;
        struct wl_output *output;
        struct wl_proxy *keyboards, *pointers, *toplevel_manager, *screens; /* managers */
        struct wl_proxy *keyboard, *pointer, *frame;
        struct wl_buffer *buffer; /* one pixel, as we only want to know when there is a new picture */
        struct toplevel *toplevels;
        struct us_keyboard keys;
        bool changed;
};

static void title_changed(void *data, struct wl_proxy *handle, const char *title)
{
        struct toplevel *toplevel = data;

        snprintf(toplevel->title, sizeof(toplevel->title), "%s", title);
}

static void drop(struct toplevel *toplevel)
{
        struct toplevel **at = &toplevel->owner->toplevels;

        while (*at != toplevel)
                at = &(*at)->next;
        *at = toplevel->next;
        wl_proxy_marshal_flags(toplevel->handle, FOREIGN_TOPLEVEL_HANDLE_DESTROY, NULL,
                               wl_proxy_get_version(toplevel->handle), WL_MARSHAL_FLAG_DESTROY);
        free(toplevel);
}

static void toplevel_closed(void *data, struct wl_proxy *handle)
{
        drop(data);
}

static void ignore_text(void *data, struct wl_proxy *handle, const char *text)
{
}

static void ignore_output(void *data, struct wl_proxy *handle, struct wl_output *output)
{
}

static void ignore_state(void *data, struct wl_proxy *handle, struct wl_array *states)
{
}

static void ignore_proxy(void *data, struct wl_proxy *handle)
{
}

static void ignore_parent(void *data, struct wl_proxy *handle, struct wl_proxy *parent)
{
}

static const struct foreign_toplevel_handle_listener toplevel_listener = {
        title_changed, ignore_text,  ignore_output,   ignore_output,
        ignore_state,  ignore_proxy, toplevel_closed, ignore_parent,
};

static void new_toplevel(void *data, struct wl_proxy *manager, struct wl_proxy *handle)
{
        struct wayland *wayland = data;
        struct toplevel *toplevel = calloc(1, sizeof(*toplevel));

        if (!toplevel) {
                wl_proxy_destroy(handle);
                return;
        }
        *toplevel = (struct toplevel){ .next = wayland->toplevels, .owner = wayland, .handle = handle };
        wayland->toplevels = toplevel;
        wayland_listen(handle, &toplevel_listener, toplevel);
}

static const struct foreign_toplevel_manager_listener toplevels_listener = { new_toplevel, ignore_proxy };

static void new_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t version)
{
        struct wayland *wayland = data;
        const struct {
                void *at;
                const struct wl_interface *interface;
                uint32_t version;
        } wanted[] = {
                { &wayland->seat, &wl_seat_interface, 1 },
                { &wayland->shm, &wl_shm_interface, 1 },
                { &wayland->output, &wl_output_interface, 1 },
                { &wayland->keyboards, &wlr_keyboard_manager_interface, 1 },
                { &wayland->pointers, &wlr_pointer_manager_interface, 1 },
                { &wayland->screens, &wlr_screencopy_manager_interface, 2 },
                { &wayland->toplevel_manager, &foreign_toplevel_manager_interface, 1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                if (strcmp(interface, wanted[i].interface->name) == 0 && version >= wanted[i].version &&
                    !*(void **)wanted[i].at) {
                        void *bound = wl_registry_bind(registry, name, wanted[i].interface, wanted[i].version);

                        memcpy(wanted[i].at, &bound, sizeof(bound));
                        if (bound && wanted[i].interface == &foreign_toplevel_manager_interface)
                                wayland_listen(bound, &toplevels_listener, wayland);
                }
}

static void global_gone(void *data, struct wl_registry *registry, uint32_t name)
{
}

static const struct wl_registry_listener registry_listener = { new_global, global_gone };

static void watch_screen(struct wayland *wayland);

static void end_frame(struct wayland *wayland)
{
        wl_proxy_marshal_flags(wayland->frame, WLR_SCREENCOPY_FRAME_DESTROY, NULL, wl_proxy_get_version(wayland->frame),
                               WL_MARSHAL_FLAG_DESTROY);
        wayland->frame = NULL;
}

static struct wl_buffer *make_buffer(struct wayland *wayland, uint32_t format, uint32_t width,
                                     uint32_t height, uint32_t stride)
{
        _cleanup_close_ int fd = memfd_create("pixel", MFD_CLOEXEC);
        struct wl_shm_pool *pool;
        struct wl_buffer *buffer;

        if (fd < 0 || width > 64 || height > 64 || stride > 4096 || ftruncate(fd, (off_t)stride * height) < 0)
                return NULL;
        pool = wl_shm_create_pool(wayland->shm, fd, (int32_t)(stride * height));
        if (!pool)
                return NULL;
        buffer = wl_shm_pool_create_buffer(pool, 0, (int32_t)width, (int32_t)height, (int32_t)stride, format);
        wl_shm_pool_destroy(pool);
        return buffer;
}

static void frame_buffer(void *data, struct wl_proxy *frame, uint32_t format, uint32_t width, uint32_t height,
                         uint32_t stride)
{
        struct wayland *wayland = data;

        if (!wayland->buffer)
                wayland->buffer = make_buffer(wayland, format, width, height, stride);
        if (wayland->buffer)
                SEND(frame, WLR_SCREENCOPY_FRAME_COPY_WITH_DAMAGE, wayland->buffer);
}

static void frame_flags(void *data, struct wl_proxy *frame, uint32_t flags)
{
}

static void frame_ready(void *data, struct wl_proxy *frame, uint32_t seconds_high, uint32_t seconds_low, uint32_t ns)
{
        struct wayland *wayland = data;

        wayland->changed = true;
        end_frame(wayland);
        watch_screen(wayland);
}

static void frame_failed(void *data, struct wl_proxy *frame)
{
        end_frame(data);
}

static void frame_damage(void *data, struct wl_proxy *frame, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
}

static const struct wlr_screencopy_frame_listener frame_listener = {
        frame_buffer, frame_flags, frame_ready, frame_failed, frame_damage,
};

/* It waits until anything on the screen has changed, and then copies a single pixel. */
static void watch_screen(struct wayland *wayland)
{
        wayland->frame = wl_proxy_marshal_flags(wayland->screens, WLR_SCREENCOPY_CAPTURE_REGION,
                                                &wlr_screencopy_frame_interface,
                                                wl_proxy_get_version(wayland->screens), 0, NULL, 0,
                                                wayland->output, 0, 0, 1, 1);
        if (wayland->frame)
                wayland_listen(wayland->frame, &frame_listener, wayland);
}

static uint32_t now_ms(void)
{
        return (uint32_t)(util_clock_ns(CLOCK_MONOTONIC) / NS_PER_MS);
}

static int flush(struct wayland *wayland)
{
        return wl_display_flush(wayland->display) < 0 && errno != EAGAIN ? -EPIPE : 0;
}

static void send_key(struct wayland *wayland, unsigned code, bool down)
{
        SEND(wayland->keyboard, WLR_KEYBOARD_KEY, now_ms(), code, (uint32_t)down);
}

/* Sends keys and state of modifiers, as a compositor does not derive the state from a virtual keyboard's keys. */
static void hold_modifiers(struct wayland *wayland, unsigned modifiers, bool down)
{
        static const struct {
                unsigned code, mask; /* @mask: the modifier in an XKB keymap (Control, Shift, Mod1, Mod4) */
        } known[SCRIPT_MODIFIERS] = {
                { KEY_LEFTCTRL, 4 }, { KEY_LEFTSHIFT, 1 }, { KEY_LEFTALT, 8 }, { KEY_LEFTMETA, 64 }
        };
        uint32_t mask = 0;

        for (size_t i = 0; i < SCRIPT_MODIFIERS; i++)
                if (modifiers & 1u << i) {
                        send_key(wayland, known[i].code, down);
                        mask |= known[i].mask;
                }
        if (modifiers)
                SEND(wayland->keyboard, WLR_KEYBOARD_MODIFIERS, down ? mask : 0u, 0u, 0u, 0u);
}

static int press(struct wayland *wayland, struct us_key key, unsigned modifiers)
{
        modifiers |= key.shifted ? (unsigned)SCRIPT_SHIFT : 0;
        hold_modifiers(wayland, modifiers, true);
        send_key(wayland, key.code, true);
        send_key(wayland, key.code, false);
        hold_modifiers(wayland, modifiers, false);
        return flush(wayland);
}

static int key(struct stage *stage, const char *name)
{
        unsigned modifiers;
        struct us_key found;

        if (!us_keyboard_name(script_take_modifiers(name, &modifiers), &found))
                return -EINVAL;
        return press((struct wayland *)stage, found, modifiers);
}

static int type(struct stage *stage, const char *text)
{
        struct wayland *wayland = (struct wayland *)stage;
        int err = 0;

        while (!err && *text) {
                struct us_key found;
                long letter = letter_next(&text);

                err = -EINVAL;
                if (letter > 0 && us_keyboard_letter(&wayland->keys, letter, false, &found))
                        err = press(wayland, found, 0);
        }
        return err;
}

static void expect(struct stage *stage, const struct script_step *step)
{
        struct wayland *wayland = (struct wayland *)stage;
        const char *text = step->text;
        struct us_key found;
        long letter;

        while (step->verb == SCRIPT_TYPE && *text && (letter = letter_next(&text)) > 0)
                us_keyboard_letter(&wayland->keys, letter, true, &found);
}

/* Before the program runs: the keyboard has all letters that will be typed. */
static void started(struct stage *stage)
{
        struct wayland *wayland = (struct wayland *)stage;
        _cleanup_close_ int fd = memfd_create("keymap", MFD_CLOEXEC);
        char keymap[US_KEYBOARD_KEYMAP_MAX];
        size_t size;

        us_keyboard_keymap(&wayland->keys, keymap);
        size = strlen(keymap) + 1;
        if (fd < 0 || write(fd, keymap, size) != (ssize_t)size)
                return; /* the compositor ends our connection at the first key */
        SEND(wayland->keyboard, WLR_KEYBOARD_KEYMAP, (uint32_t)WL_KEYBOARD_KEYMAP_FORMAT_XKB_V1, fd, (uint32_t)size);
        wl_display_roundtrip(wayland->display);
}

static void end_pointer(struct wayland *wayland)
{
        wl_proxy_marshal_flags(wayland->pointer, WLR_POINTER_FRAME, NULL, wl_proxy_get_version(wayland->pointer), 0);
}

/* All windows begin at the screen's corner. */
static int move(struct stage *stage, int x, int y)
{
        struct wayland *wayland = (struct wayland *)stage;

        SEND(wayland->pointer, WLR_POINTER_MOTION_ABSOLUTE, now_ms(), (uint32_t)x, (uint32_t)y,
             wayland->width, wayland->height);
        end_pointer(wayland);
        return flush(wayland);
}

static void turn_wheel(struct wayland *wayland, unsigned number)
{
        bool sideways = number == SCRIPT_WHEEL_LEFT || number == SCRIPT_WHEEL_RIGHT;
        int step = number == SCRIPT_WHEEL_DOWN || number == SCRIPT_WHEEL_RIGHT ? 1 : -1;

        SEND(wayland->pointer, WLR_POINTER_AXIS_SOURCE, (uint32_t)WL_POINTER_AXIS_SOURCE_WHEEL);
        SEND(wayland->pointer, WLR_POINTER_AXIS_DISCRETE, now_ms(),
             (uint32_t)(sideways ? WL_POINTER_AXIS_HORIZONTAL_SCROLL : WL_POINTER_AXIS_VERTICAL_SCROLL),
             wl_fixed_from_int(step * WHEEL_STEP), step);
        end_pointer(wayland);
}

static int button(struct stage *stage, unsigned number, unsigned modifiers, bool down)
{
        static const uint32_t codes[] = { 0, BTN_LEFT, BTN_MIDDLE, BTN_RIGHT, 0, 0, 0, 0, BTN_SIDE, BTN_EXTRA };
        struct wayland *wayland = (struct wayland *)stage;

        if (down)
                hold_modifiers(wayland, modifiers, true);
        if (codes[number]) {
                SEND(wayland->pointer, WLR_POINTER_BUTTON, now_ms(), codes[number], (uint32_t)down);
                end_pointer(wayland);
        } else if (down) {
                turn_wheel(wayland, number);
        }
        if (!down)
                hold_modifiers(wayland, modifiers, false);
        return flush(wayland);
}

/* One of exactly that title comes first, then the newest. */
static struct toplevel *find_window(struct wayland *wayland, const char *title)
{
        struct toplevel *found = NULL;

        for (struct toplevel *at = wayland->toplevels; at; at = at->next) {
                if (strcmp(at->title, title) == 0)
                        return at;
                if (!found && strstr(at->title, title))
                        found = at;
        }
        return found;
}

static bool has_window(struct stage *stage, const char *title)
{
        struct wayland *wayland = (struct wayland *)stage;
        struct toplevel *found = find_window(wayland, title);

        if (!found)
                return false;
        SEND(found->handle, FOREIGN_TOPLEVEL_HANDLE_ACTIVATE, wayland->seat);
        return wl_display_roundtrip(wayland->display) >= 0;
}

static int close_window(struct stage *stage, const char *title)
{
        struct wayland *wayland = (struct wayland *)stage;
        struct toplevel *found = find_window(wayland, title);

        if (!found)
                return 0;
        wl_proxy_marshal_flags(found->handle, FOREIGN_TOPLEVEL_HANDLE_CLOSE, NULL,
                               wl_proxy_get_version(found->handle), 0);
        return flush(wayland) < 0 ? -EPIPE : 1;
}

static bool look(struct stage *stage, char **seen, size_t *length)
{
        struct wayland *wayland = (struct wayland *)stage;
        struct pollfd fd = { .fd = wl_display_get_fd(wayland->display), .events = POLLIN };
        bool changed;

        while (wl_display_prepare_read(wayland->display) != 0)
                if (wl_display_dispatch_pending(wayland->display) < 0)
                        return false;
        wl_display_flush(wayland->display);
        if (poll(&fd, 1, 0) > 0)
                wl_display_read_events(wayland->display);
        else
                wl_display_cancel_read(wayland->display);
        wl_display_dispatch_pending(wayland->display);
        wl_display_flush(wayland->display);
        changed = wayland->changed;
        wayland->changed = false;
        return changed;
}

static int fd_of(struct stage *stage)
{
        return wl_display_get_fd(((struct wayland *)stage)->display);
}

static void wayland_free(struct stage *stage)
{
        struct wayland *wayland = (struct wayland *)stage;
        struct wl_proxy *proxies[] = { wayland->keyboard,  wayland->pointer,  wayland->frame,
                                       wayland->keyboards, wayland->pointers, wayland->toplevel_manager,
                                       wayland->screens };

        while (wayland->toplevels)
                drop(wayland->toplevels);
        for (size_t i = 0; i < ARRAY_SIZE(proxies); i++)
                if (proxies[i])
                        wl_proxy_destroy(proxies[i]);
        if (wayland->buffer)
                wl_buffer_destroy(wayland->buffer);
        if (wayland->output)
                wl_output_destroy(wayland->output);
        if (wayland->shm)
                wl_shm_destroy(wayland->shm);
        if (wayland->seat)
                wl_seat_destroy(wayland->seat);
        if (wayland->registry)
                wl_registry_destroy(wayland->registry);
        if (wayland->display)
                wl_display_disconnect(wayland->display);
        compositor_stop(&wayland->compositor);
        free(wayland);
}

static const struct stage_ops wayland_ops = { expect,       key,  type,  move,    button,      has_window,
                                              close_window, look, fd_of, started, wayland_free };

static int connect_to(struct wayland *wayland)
{
        wayland->display = wl_display_connect(wayland->compositor.socket);
        if (!wayland->display)
                return -ECONNREFUSED;
        wayland->registry = wl_display_get_registry(wayland->display);
        wl_registry_add_listener(wayland->registry, &registry_listener, wayland);
        if (wl_display_roundtrip(wayland->display) < 0)
                return -EIO;
        if (!wayland->seat || !wayland->shm || !wayland->output || !wayland->keyboards ||
            !wayland->pointers || !wayland->screens || !wayland->toplevel_manager)
                return -ENOTSUP;
        wayland->keyboard = wl_proxy_marshal_flags(wayland->keyboards, WLR_KEYBOARD_MANAGER_CREATE,
                                                   &wlr_keyboard_interface, 1, 0, wayland->seat, NULL);
        wayland->pointer = wl_proxy_marshal_flags(wayland->pointers, WLR_POINTER_MANAGER_CREATE,
                                                  &wlr_pointer_interface, 1, 0, wayland->seat, NULL);
        watch_screen(wayland);
        return wl_display_roundtrip(wayland->display) < 0 ? -EIO : 0;
}

int stage_wayland(struct child_place *place, struct stage **ret)
{
        struct wayland *wayland = calloc(1, sizeof(*wayland));
        int err;

        if (!wayland)
                return -ENOMEM;
        *wayland = (struct wayland){ .stage.ops = &wayland_ops, .width = 1280, .height = 800 };
        err = compositor_start(wayland->width, wayland->height, &wayland->compositor);
        if (!err)
                err = connect_to(wayland);
        if (err) {
                log_error(&program_log, "a Wayland compositor for the program cannot be started (package "
                                        "sway): %s", strerror(-err));
                wayland_free(&wayland->stage);
                return err;
        }
        place->wayland = wayland->compositor.socket;
        *ret = &wayland->stage;
        return 0;
}
