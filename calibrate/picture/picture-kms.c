/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One plain picture on every connected screen of a graphics card by mode setting (KMS), on a text console, where no
 * other program drives the card. Off by switching the CRTC off. When this process ends, the kernel restores the
 * console.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "focus/vt.h"
#include "picture.h"
#include "util/util.h"

#define HEADS_MAX 8

struct head { /* one connector, with the CRTC that drives it */
        uint32_t connector, crtc;
        drmModeModeInfo mode;
        drmModeCrtc *before;
        uint32_t handle, framebuffer;
        uint64_t size;
};

struct kms {
        struct picture picture; /* first */
        int fd;
        struct vt *vt;          /* NULL: no virtual terminals */
        int terminal;
        struct head heads[HEADS_MAX];
        size_t n;
};

static int make_framebuffer(int fd, struct head *head)
{
        struct drm_mode_create_dumb create = {
                .width = head->mode.hdisplay,
                .height = head->mode.vdisplay,
                .bpp = 32,
        };

        if (drmIoctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create) < 0)
                return -errno;
        head->handle = create.handle;
        head->size = create.size;
        return drmModeAddFB(fd, create.width, create.height, 24, 32, create.pitch, create.handle,
                            &head->framebuffer);
}

/* All bytes alike: grey in any order of the colours. */
static int paint(int fd, const struct head *head, int shade)
{
        struct drm_mode_map_dumb map = { .handle = head->handle };
        void *bytes;

        if (drmIoctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map) < 0)
                return -errno;
        bytes = mmap(NULL, head->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
        if (bytes == MAP_FAILED)
                return -errno;
        memset(bytes, shade, head->size);
        munmap(bytes, head->size);
        return 0;
}

static bool is_taken(const struct kms *kms, uint32_t crtc)
{
        for (size_t i = 0; i < kms->n; i++)
                if (kms->heads[i].crtc == crtc)
                        return true;
        return false;
}

/* The CRTC that drives it now, else one that can. 0: none is left. */
static uint32_t find_crtc(const struct kms *kms, const drmModeRes *resources,
                          const drmModeConnector *connector)
{
        drmModeEncoder *encoder = drmModeGetEncoder(kms->fd, connector->encoder_id);
        uint32_t crtc = encoder && !is_taken(kms, encoder->crtc_id) ? encoder->crtc_id : 0;

        drmModeFreeEncoder(encoder);
        for (int i = 0; !crtc && i < connector->count_encoders; i++) {
                encoder = drmModeGetEncoder(kms->fd, connector->encoders[i]);
                for (int k = 0; encoder && !crtc && k < MIN(resources->count_crtcs, 32); k++)
                        if ((encoder->possible_crtcs & UINT32_C(1) << k) &&
                            !is_taken(kms, resources->crtcs[k]))
                                crtc = resources->crtcs[k];
                drmModeFreeEncoder(encoder);
        }
        return crtc;
}

/* The current mode; of a screen that is off its preferred or else first mode. */
static drmModeModeInfo choose_mode(const drmModeConnector *connector, const drmModeCrtc *before)
{
        if (before && before->mode_valid)
                return before->mode;
        for (int i = 0; i < connector->count_modes; i++)
                if (connector->modes[i].type & DRM_MODE_TYPE_PREFERRED)
                        return connector->modes[i];
        return connector->modes[0];
}

static int add_head(struct kms *kms, const drmModeRes *resources, const drmModeConnector *connector)
{
        struct head *head = &kms->heads[kms->n];
        uint32_t crtc = find_crtc(kms, resources, connector);

        if (!crtc || connector->count_modes == 0)
                return 0;
        *head = (struct head){ .connector = connector->connector_id, .crtc = crtc };
        head->before = drmModeGetCrtc(kms->fd, crtc);
        head->mode = choose_mode(connector, head->before);
        kms->n++;
        return make_framebuffer(kms->fd, head);
}

static int find_heads(struct kms *kms)
{
        drmModeRes *resources = drmModeGetResources(kms->fd);
        int err = resources ? 0 : -errno;

        for (int i = 0; !err && i < resources->count_connectors && kms->n < HEADS_MAX; i++) {
                drmModeConnector *connector = drmModeGetConnector(kms->fd, resources->connectors[i]);

                if (connector && connector->connection == DRM_MODE_CONNECTED)
                        err = add_head(kms, resources, connector);
                drmModeFreeConnector(connector);
        }
        drmModeFreeResources(resources);
        return err ? err : kms->n ? 0 : -ENODEV;
}

/* Cards and panels that keep a copy of the picture must be told that it changed. */
static int show_on(int fd, struct head *head, int shade)
{
        int err = paint(fd, head, shade);

        if (!err)
                err = drmModeSetCrtc(fd, head->crtc, head->framebuffer, 0, 0, &head->connector, 1, &head->mode);
        if (!err)
                drmModeDirtyFB(fd, head->framebuffer, NULL, 0); /* -ENOSYS: the card keeps no copy */
        return err;
}

static int show(struct picture *picture, int shade)
{
        struct kms *kms = (struct kms *)picture;
        int err = 0;

        for (size_t i = 0; !err && i < kms->n; i++)
                err = shade == PICTURE_OFF ? drmModeSetCrtc(kms->fd, kms->heads[i].crtc, 0, 0, 0, NULL, 0, NULL)
                                           : show_on(kms->fd, &kms->heads[i], shade);
        return err;
}

static bool can_switch(const struct picture *picture)
{
        return true;
}

static int fd(const struct picture *picture)
{
        const struct kms *kms = (const struct kms *)picture;

        return kms->vt ? vt_fd(kms->vt) : -1;
}

/* The user switched to another console: give up the card. */
static int dispatch(struct picture *picture)
{
        struct kms *kms = (struct kms *)picture;

        return kms->vt && vt_active(kms->vt) != kms->terminal ? -ECANCELED : 0;
}

static void close_head(const struct kms *kms, struct head *head)
{
        drmModeCrtc *before = head->before;
        struct drm_mode_destroy_dumb destroy = { .handle = head->handle };

        if (before && before->mode_valid)
                drmModeSetCrtc(kms->fd, head->crtc, before->buffer_id, before->x, before->y, &head->connector,
                               1, &before->mode);
        drmModeFreeCrtc(before);
        if (head->framebuffer)
                drmModeRmFB(kms->fd, head->framebuffer);
        if (head->handle)
                drmIoctl(kms->fd, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy);
}

static void close_kms(struct picture *picture)
{
        struct kms *kms = (struct kms *)picture;

        for (size_t i = 0; i < kms->n; i++)
                close_head(kms, &kms->heads[i]);
        vt_close(kms->vt);
        closep(&kms->fd);
        free(kms);
}

/* Opening a card without a master makes this process its master; root may also ask for it. */
static int open_card(struct kms *kms, const char *name)
{
        char path[300];

        snprintf(path, sizeof(path), "/dev/dri/%s", name);
        kms->fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
        if (kms->fd < 0)
                return -errno;
        if (!drmIsMaster(kms->fd) && drmSetMaster(kms->fd) < 0)
                return -EBUSY;
        return find_heads(kms);
}

static int open_vt(struct kms *kms)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (root_fd < 0)
                return -errno;
        if (vt_open(root_fd, &kms->vt) == 0)
                kms->terminal = vt_active(kms->vt); /* the first read also arms the descriptor */
        return 0;
}

static int try_card(const char *name, struct picture **ret)
{
        struct kms *kms = calloc(1, sizeof(*kms));
        int err;

        if (!kms)
                return -ENOMEM;
        kms->picture.ops = &picture_kms;
        kms->fd = -1;
        err = open_card(kms, name);
        if (!err)
                err = open_vt(kms);
        if (err) {
                close_kms(&kms->picture);
                return err;
        }
        *ret = &kms->picture;
        return 0;
}

static int open_kms(struct picture **ret)
{
        DIR *dir = opendir("/dev/dri");
        const struct dirent *entry;
        int err = -ENOENT;

        while (dir && err && (entry = readdir(dir)))
                if (strncmp(entry->d_name, "card", 4) == 0)
                        err = try_card(entry->d_name, ret);
        if (dir)
                closedir(dir);
        return err;
}

const struct picture_ops picture_kms = {
        .name = "kms",
        .white = true,
        .open = open_kms,
        .can_switch = can_switch,
        .show = show,
        .fd = fd,
        .events = POLLPRI,
        .dispatch = dispatch,
        .close = close_kms,
};
