/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The choice of the built-in panel's backlight among several: machines as lines, with the right answer. */

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "model/usage.h"
#include "source/display-choice.h"
#include "source/display.h"
#include "tree.h"

enum sure { NONE, ARBITRARY, LIKELY, CERTAIN };

struct line {
        const char *path; /* below sys/class/ */
        const char *text; /* "-> " and a target: a link */
};

static const struct machine {
        const char *name, *wanted, *taken;
        enum sure sure;
        struct line lines[12];
} machines[] = {
        { "one panel without a link",
          "auto",
          "panel",
          CERTAIN,
          { { "backlight/panel/max_brightness", "255" } } },
        { "raw, platform and firmware of one panel",
          "auto",
          "c",
          CERTAIN,
          { { "backlight/a/max_brightness", "9" },
            { "backlight/a/type", "raw" },
            { "backlight/b/max_brightness", "9" },
            { "backlight/b/type", "platform" },
            { "backlight/c/max_brightness", "9" },
            { "backlight/c/type", "firmware" } } },
        { "a monitor by DDC/CI, of type platform and first by name",
          "auto",
          "intel_backlight",
          CERTAIN,
          { { "backlight/ddcci3/max_brightness", "100" },
            { "backlight/ddcci3/type", "platform" },
            { "backlight/intel_backlight/max_brightness", "9" } } },
        { "two panels of the GPU whose firmware has one backlight",
          "auto",
          "acpi_video0",
          ARBITRARY,
          { { "backlight/acpi_video0/max_brightness", "100" },
            { "backlight/acpi_video0/type", "firmware" },
            { "backlight/acpi_video0/device", "-> ../../../0000:00:02.0" },
            { "drm/card1/device", "-> ../../../0000:00:02.0" },
            { "drm/card1-eDP-1/status", "connected" },
            { "drm/card1-eDP-2/status", "connected" } } },
        { "two panels, and a backlight of one of them",
          "auto",
          "intel_backlight",
          CERTAIN,
          { { "backlight/intel_backlight/max_brightness", "400" },
            { "backlight/intel_backlight/device", "-> ../../card1-eDP-1" },
            { "drm/card1-eDP-1/status", "connected" },
            { "drm/card1-eDP-2/status", "connected" } } },
        { "only a monitor by DDC/CI", "auto", NULL, NONE, { { "backlight/ddcci3/max_brightness", "100" } } },
        { "DDC/CI by its bus",
          "auto",
          "z",
          CERTAIN,
          { { "backlight/monitor/max_brightness", "100" },
            { "backlight/monitor/device", "-> ../../../devices/pci0000:00/0000:00:02.0/i2c-4/4-0037/x" },
            { "backlight/z/max_brightness", "9" } } },
        { "a display on USB",
          "auto",
          "z",
          CERTAIN,
          { { "backlight/apple/max_brightness", "100" },
            { "backlight/apple/device", "-> ../../../devices/pci0000:00/0000:00:14.0/usb1/1-4/1-4:1.0" },
            { "backlight/z/max_brightness", "9" } } },
        { "connectors: the connected one's",
          "auto",
          "nvidia_0",
          CERTAIN,
          { { "backlight/amdgpu_bl1/max_brightness", "9" },
            { "backlight/amdgpu_bl1/device", "-> ../../card1-eDP-1" },
            { "backlight/nvidia_0/max_brightness", "9" },
            { "backlight/nvidia_0/device", "-> ../../card0-eDP-2" },
            { "drm/card1-eDP-1/status", "disconnected" },
            { "drm/card0-eDP-2/status", "connected" } } },
        { "GPUs: that of the connected panel",
          "auto",
          "nvidia_0",
          CERTAIN,
          { { "backlight/amdgpu_bl1/max_brightness", "9" },
            { "backlight/amdgpu_bl1/device", "-> ../../../0000:05:00.0" },
            { "backlight/nvidia_0/max_brightness", "9" },
            { "backlight/nvidia_0/device", "-> ../../../0000:01:00.0" },
            { "drm/card1/device", "-> ../../../0000:05:00.0" },
            { "drm/card0/device", "-> ../../../0000:01:00.0" },
            { "drm/card1-eDP-1/status", "disconnected" },
            { "drm/card0-eDP-2/status", "connected" } } },
        { "firmware of the unused GPU",
          "auto",
          "amdgpu_bl1",
          CERTAIN,
          { { "backlight/acpi_video1/max_brightness", "9" },
            { "backlight/acpi_video1/type", "firmware" },
            { "backlight/acpi_video1/device", "-> ../../../0000:01:00.0" },
            { "backlight/amdgpu_bl1/max_brightness", "9" },
            { "backlight/amdgpu_bl1/device", "-> ../../card1-eDP-1" },
            { "drm/card0/device", "-> ../../../0000:01:00.0" },
            { "drm/card0-HDMI-A-1/status", "connected" },
            { "drm/card1-eDP-1/status", "connected" } } },
        { "firmware of a GPU without connectors",
          "auto",
          "gmux_backlight",
          CERTAIN,
          { { "backlight/acpi_video0/max_brightness", "9" },
            { "backlight/acpi_video0/type", "firmware" },
            { "backlight/acpi_video0/device", "-> ../../../0000:00:02.0" },
            { "backlight/gmux_backlight/max_brightness", "9" },
            { "backlight/gmux_backlight/type", "platform" },
            { "drm/card0/device", "-> ../../../0000:00:02.0" },
            { "drm/card1/device", "-> ../../../0000:01:00.0" },
            { "drm/card1-eDP-1/status", "connected" } } },
        { "firmware and connector of one GPU: the connector's, and a calibration keeps off",
          "auto",
          "amdgpu_bl1",
          LIKELY,
          { { "backlight/acpi_video0/max_brightness", "9" },
            { "backlight/acpi_video0/type", "firmware" },
            { "backlight/acpi_video0/device", "-> ../../../0000:05:00.0" },
            { "backlight/amdgpu_bl1/max_brightness", "9" },
            { "backlight/amdgpu_bl1/device", "-> ../../card1-eDP-1" },
            { "drm/card1/device", "-> ../../../0000:05:00.0" },
            { "drm/card1-eDP-1/status", "connected" } } },
        { "firmware, and a GPU's driver that knows no connector: by name, which is no proof",
          "auto",
          "nvidia_wmi_ec_backlight",
          LIKELY,
          { { "backlight/nvidia_0/max_brightness", "100" },
            { "backlight/nvidia_0/device", "-> ../../../0000:01:00.0" },
            { "backlight/nvidia_wmi_ec_backlight/max_brightness", "255" },
            { "backlight/nvidia_wmi_ec_backlight/type", "firmware" },
            { "drm/card1/device", "-> ../../../0000:01:00.0" },
            { "drm/card1-eDP-1/status", "connected" } } },
        { "firmware beside two GPUs, one of them with the panel",
          "auto",
          "amdgpu_bl0",
          ARBITRARY,
          { { "backlight/amdgpu_bl0/max_brightness", "255" },
            { "backlight/amdgpu_bl0/device", "-> ../../../0000:05:00.0" },
            { "backlight/nvidia_0/max_brightness", "100" },
            { "backlight/nvidia_0/device", "-> ../../../0000:01:00.0" },
            { "backlight/nvidia_wmi_ec_backlight/max_brightness", "255" },
            { "backlight/nvidia_wmi_ec_backlight/type", "firmware" },
            { "drm/card0/device", "-> ../../../0000:01:00.0" },
            { "drm/card1/device", "-> ../../../0000:05:00.0" },
            { "drm/card1-eDP-1/status", "connected" } } },
        { "firmware beside the connector's own",
          "auto",
          "amdgpu_bl1",
          CERTAIN,
          { { "backlight/amdgpu_bl1/max_brightness", "255" },
            { "backlight/amdgpu_bl1/device", "-> ../../card1-eDP-1" },
            { "backlight/nvidia_wmi_ec_backlight/max_brightness", "255" },
            { "backlight/nvidia_wmi_ec_backlight/type", "firmware" },
            { "drm/card1-eDP-1/status", "connected" } } },
        { "two GPUs without links: by name, which is no proof",
          "auto",
          "radeon_bl0",
          LIKELY,
          { { "backlight/nvidia_0/max_brightness", "9" },
            { "backlight/radeon_bl0/max_brightness", "9" },
            { "drm/card0-eDP-1/status", "connected" } } },
        { "two panels alike",
          "auto",
          "card1-eDP-2-backlight",
          ARBITRARY,
          { { "backlight/intel_backlight/max_brightness", "9" },
            { "backlight/intel_backlight/device", "-> ../../card1-eDP-1" },
            { "backlight/card1-eDP-2-backlight/max_brightness", "9" },
            { "backlight/card1-eDP-2-backlight/device", "-> ../../card1-eDP-2" },
            { "drm/card1-eDP-1/status", "connected" },
            { "drm/card1-eDP-2/status", "connected" } } },
        { "two panels, one chosen",
          "intel_backlight",
          "intel_backlight",
          CERTAIN,
          { { "backlight/intel_backlight/max_brightness", "9" },
            { "backlight/another/max_brightness", "9" } } },
        { "a monitor's, chosen",
          "ddcci3",
          "ddcci3",
          CERTAIN,
          { { "backlight/ddcci3/max_brightness", "9" }, { "backlight/panel/max_brightness", "9" } } },
        { "one that is not there, chosen",
          "pannel",
          NULL,
          NONE,
          { { "backlight/panel/max_brightness", "9" } } },
        { "a strip on a connected DSI connector",
          "auto",
          "panel",
          CERTAIN,
          { { "backlight/228600000.dsi.0/max_brightness", "255" },
            { "backlight/228600000.dsi.0/device", "-> ../../card2-DSI-1" },
            { "backlight/panel/max_brightness", "509" },
            { "drm/card2-DSI-1/status", "connected" },
            { "drm/card2-DSI-1/modes", "60x2008\n" },
            { "drm/card0-DSI-1/status", "connected" },
            { "drm/card0-DSI-1/modes", "2560x1600\n" } } },
        { "DSI beside eDP, by its place",
          "auto",
          "z-panel",
          CERTAIN,
          { { "backlight/a-bl/max_brightness", "255" },
            { "backlight/a-bl/device", "-> ../../../devices/platform/soc/228600000.dsi/228600000.dsi.0" },
            { "backlight/z-panel/max_brightness", "509" },
            { "drm/card0-eDP-1/status", "connected" },
            { "drm/card2-DSI-1/status", "connected" } } },
        { "a phone's panel is DSI",
          "auto",
          "ae94000.dsi.0",
          CERTAIN,
          { { "backlight/ae94000.dsi.0/max_brightness", "255" },
            { "backlight/ae94000.dsi.0/device", "-> ../../card0-DSI-1" },
            { "drm/card0-DSI-1/status", "connected" },
            { "drm/card0-DSI-1/modes", "1080x2400\n" } } },
        { "a screenpad and a Touch Bar of HID",
          "auto",
          "gmux_backlight",
          CERTAIN,
          { { "backlight/asus_screenpad/max_brightness", "255" },
            { "backlight/asus_screenpad/type", "firmware" },
            { "backlight/appletb_backlight/max_brightness", "2" },
            { "backlight/gmux_backlight/max_brightness", "1023" },
            { "backlight/gmux_backlight/type", "platform" } } },
        { "the lid is closed, and the driver says disconnected",
          "auto",
          "intel_backlight",
          CERTAIN,
          { { "backlight/intel_backlight/max_brightness", "9" },
            { "backlight/intel_backlight/device", "-> ../../card0-LVDS-1" },
            { "drm/card0-LVDS-1/status", "disconnected" },
            { "drm/card0-VGA-1/status", "connected" } } },
        { "unreadable and empty ones",
          "auto",
          "panel",
          CERTAIN,
          { { "backlight/a/max_brightness", "0" },
            { "backlight/b/max_brightness", "-5" },
            { "backlight/c/type", "firmware" },
            { "backlight/d/max_brightness", "" },
            { "backlight/panel/max_brightness", "99999999999999" } } },
        { "no backlight", "auto", NULL, NONE, { { "drm/card0-eDP-1/status", "connected" } } },
};

static void look(const struct machine *machine)
{
        char dir[] = "/tmp/joulecast-choice-XXXXXX", path[256], why[512] = "";
        struct backlight_choice choice = { .n = 0 };
        struct display_files *files = NULL;
        struct display_state state = { .max_brightness = 0 };
        int root_fd, err;

        check(mkdtemp(dir) != NULL);
        for (size_t i = 0; i < ARRAY_SIZE(machine->lines) && machine->lines[i].path; i++) {
                const char *text = machine->lines[i].text;

                snprintf(path, sizeof(path), "sys/class/%s", machine->lines[i].path);
                check(strncmp(text, "-> ", 3) == 0 ? tree_link(dir, path, text + 3) :
                                                     tree_write(dir, path, text, strlen(text)));
        }
        if (machine->taken) {
                snprintf(path, sizeof(path), "sys/class/backlight/%s/brightness", machine->taken);
                check(tree_write(dir, path, "7\n", 2));
        }
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        err = display_choose(root_fd, machine->wanted, &choice);
        check_int(err, machine->sure == NONE && strcmp(machine->wanted, "auto") ? -ENOENT : 0);
        check_int(display_explain_choice(root_fd, machine->wanted, why, sizeof(why)), err);
        check_int(err == -ENOENT, strstr(why, machine->wanted) && strstr(why, "panel"));
        check_int(choice.taken, machine->sure != NONE);
        check_text(choice.taken ? choice.list[0].name : "none", machine->taken ? machine->taken : "none");
        check_int(choice.known, machine->sure >= LIKELY);
        check_int(choice.certain, machine->sure == CERTAIN);
        check_int(display_open(root_fd, machine->wanted, &files),
                  machine->sure == NONE && !strstr(machine->lines[0].path, "drm") ? -ENODEV : 0);
        if (files && machine->taken && display_read(files, &state) == 0) {
                check_text(state.backlight, machine->taken);
                check_int(state.certain, machine->sure == CERTAIN);
                check_int(state.brightness, machine->sure >= LIKELY ? 7 : BRIGHTNESS_UNKNOWN);
        }
        display_close(files);
        close(root_fd);
        tree_remove(dir);
}

int main(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
                int before = check_failures;

                look(&machines[i]);
                if (check_failures != before)
                        fprintf(stderr, "... of \"%s\"\n", machines[i].name);
        }
        return check_result();
}
