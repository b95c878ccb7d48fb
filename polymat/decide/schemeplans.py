"""Plans of stages and groups by schemes: the user's, or that of the model of data movement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product

from polymat.graph.aligned import Refused
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.nest import MergedPlan
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.poly.domain import Domain
from polymat.product.kernelfit import UserKernels
from polymat.product.matching import contraction_of
from polymat.product.modelled import Extents
from polymat.product.scheme import Scheme
from polymat.product.schemetext import Misfit
from polymat.tilesize.namedgroups import (
    all_counting,
    alternatives,
    counting,
    is_of_another,
    says_tiles,
    schemes_among,
)
from polymat.tilesize.schemeplanner import (
    is_modelled,
    plan_loops,
    plan_merged,
    plan_model,
    plan_scheme,
    ranked_variants,
)
from polymat.tilesize.schemetiles import (
    fitting,
    is_for_one,
    is_tiled,
    products_of,
    says,
    says_more,
    with_inner_loops,
)
from polymat.tilesize.sweeps import turned
from polymat.tilesize.switches import switched

MODELLED = ("model", "learned")
"""Values of `Options.blocks` with which loops of contractions are chosen."""


class SchemePlanner:
    """Finds the plans of one pipeline's stages that `Options.scheme` or `Options.blocks` gives loops.

    assumed: a size for every extent.  given: those that the user gave.  threads: that compute a stage.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        machine: Machine,
        assumed: Mapping[str, int],
        given: Mapping[str, int],
        options: Options,
        threads: int,
    ) -> None:
        self.pipeline, self.machine, self.assumed, self.given = pipeline, machine, assumed, given
        self.options, self.plain, self.threads = options, replace(options, scheme=()), threads
        self.texts, self.products = options.schemes, products_of(pipeline, options.schemes, assumed)
        self.schemes = {name: [*schemes_among(alternatives(text))] for name, text in self.texts.items()}
        named = ((name, scheme.fused) for name, every in self.schemes.items() for scheme in every)
        self._within_others = {each for name, fused in named for each in fused if each != name}
        self.user = UserKernels.of(options.microkernels, pipeline)
        self._modelled: dict[str, SchemePlan] = {}

    def named(self, stages: Sequence[str]) -> str | None:
        """The first of some stages that has loops of its own."""
        return next((name for name in stages if self._is_given(name) or self._is_modelled(name)), None)

    def plan(self, name: str, usual: Callable[[Stage], KernelPlan | None]) -> SchemePlan | KernelPlan:
        """The plan of such a stage; usual: that around register blocks, which a scheme may say as well."""
        stage, context = self.pipeline.stage(name), self.pipeline.context
        if name in self.texts:
            given = counting((name,), self.texts)[name]
            return plan_scheme(stage, given, context, self.machine, self.assumed, usual(stage), self.user)
        return self.modelled(name)

    def modelled(self, name: str) -> SchemePlan:
        """The plan of a contraction by the scheme that the model of data movement chooses."""
        if name not in self._modelled:
            self._modelled[name] = plan_model(*self._of_stage(name), self.threads, self.options)
        return self._modelled[name]

    def ranked(self, name: str) -> tuple[Scheme, ...]:
        """Variants of that scheme as the ranker orders them, the best first."""
        return ranked_variants(*self._of_stage(name), self.threads, self.options)

    def _of_stage(self, name: str) -> tuple[Stage, Extents, Domain, Machine, Mapping[str, int]]:
        pipeline = self.pipeline
        return pipeline.stage(name), pipeline.extents, pipeline.context, self.machine, self.assumed

    def by_scheme(self, name: str, text: str) -> SchemePlan | KernelPlan:
        """The plan of a contraction by any scheme; an `OptionError` where that is none of it."""
        stage = self.pipeline.stage(name)
        return plan_scheme(stage, text, self.pipeline.context, self.machine, self.assumed, None, self.user)

    def is_open(self, name: str) -> bool:
        """Whether a stage is a contraction whose loops the user has left open: schemes may be tried."""
        free = self.options.kernels and self.options.blas != "always" and name not in self._within_others
        if not free or name in self.texts:
            return False
        return is_modelled(self.pipeline.stage(name), self.pipeline.context, self.assumed)

    def plans(
        self,
        stages: tuple[str, ...],
        every: Callable[[], list[Plan] | Refused],
        by_level: Callable[[TilePlan], Sequence[Plan]],
        usual: Callable[[Stage], KernelPlan | None],
    ) -> list[Plan] | Refused | None:
        """The plans of a group whose loops are those of a scheme; None where sizes of tiles at most are.

        every: all plans of the group.  by_level: tiles in the sizes of other caches.  usual: as in `plan`.
        """
        refused, asked = self._refused(stages), self.asked(stages)
        printed = self._printed(stages, every, by_level) if asked and refused is None else []
        if refused is not None or printed:
            return refused or printed
        given = self.named(stages)
        if given is not None:
            alone = len(stages) == 1
            return [self.plan(given, usual)] if alone else Refused(f"{given} has a scheme of its own")
        merged = self._merged(stages, every) if len(stages) > 1 and self.is_named(stages) else None
        if merged is not None:
            return [merged]
        own = self._alone(asked[0]) if asked and len(stages) == 1 else None
        if own is None:
            return None
        return [switched(own, self.pipeline, self.given, replace(self.plain, tile_sizes=()))]

    def asked(self, stages: Sequence[str]) -> list[str]:
        """Those of some stages whose schemes count in a group of all of them."""
        return [*counting(stages, self.texts)]

    def leads(self, stages: Sequence[str]) -> bool:
        """Whether a scheme says more of the group of some stages than sizes of tiles."""
        return self.named(stages) is not None or any(map(says_more, self._readable(stages)))

    @property
    def fixed(self) -> frozenset[str]:
        """The stages whose schemes say more of their tiles than sizes."""
        return frozenset(name for name in self.texts if any(map(says_more, self._readable([name]))))

    def _readable(self, stages: Sequence[str]) -> list[Scheme]:
        return [scheme for name in stages for scheme in self.schemes.get(name, ())]

    def reorders(self, stages: Sequence[str]) -> bool:
        """Whether a scheme of one of them may have its tiles in another order than that of the stages."""
        every = self._readable(stages)
        return any(sum(loop.kind in ("T", "R") for loop in scheme.loops) > 1 for scheme in every)

    def _merged(self, stages: tuple[str, ...], every: Callable[[], list[Plan] | Refused]) -> Plan | None:
        """A product with what scales it and adds to it, in the loops of a scheme; None of other groups."""
        found = every()
        plans = [] if isinstance(found, Refused) else [plan for plan in found if isinstance(plan, MergedPlan)]
        fused = [scheme for scheme in self._readable(stages) if scheme.fused]
        for plan, scheme in product(plans, fused):
            part = (self.pipeline.context, self.machine, self.assumed, self.user)
            made = plan_merged(plan, scheme, *part)
            if isinstance(made, MergedPlan):
                return made
        return None

    def groups(self) -> list[tuple[str, ...]]:
        """The groups that schemes name."""
        named = ((name, scheme.fused) for name, every in self.schemes.items() for scheme in every)
        sets = [{*fused, name} for name, fused in named if fused - {name}]
        stages = [stage.name for stage in self.pipeline.stages]
        return [tuple(name for name in stages if name in each) for each in sets if each <= {*stages}]

    def is_named(self, stages: Sequence[str]) -> bool:
        """Whether some stages are those that a scheme of one of them names."""
        found = ((name, one) for name in self.asked(stages) for one in self.schemes[name])
        return any({*one.fused, name} == {*stages} for name, one in found)

    def _refused(self, stages: Sequence[str]) -> Refused | None:
        """Why several stages are no group, where schemes of them name others or are of stages alone."""
        if len(stages) == 1:
            return None
        found = {name: [*schemes_among(each)] for name, each in all_counting(stages, self.texts).items()}
        for name, every in found.items():
            if every and all(is_of_another(stages, name, scheme) for scheme in every):
                return Refused(f"the scheme of {name} is for another group, or for {name} by itself")
        if found.keys() >= {*stages} and not any(map(says_tiles, chain(*found.values()))):
            return Refused("each of them has loops of its own, and no scheme says the tiles around these")
        return None

    def _printed(
        self,
        stages: tuple[str, ...],
        every: Callable[[], list[Plan] | Refused],
        by_level: Callable[[TilePlan], Sequence[Plan]],
    ) -> list[Plan]:
        """Those plans that print the schemes of their stages, as they are without schemes."""
        found = every()
        if isinstance(found, Refused):
            return []
        plans = [switched(plan, self.pipeline, self.given, self.plain) for plan in found]
        tiles = [plan for plan in plans if isinstance(plan, TilePlan)]
        plans += [each for plan in tiles for each in by_level(plan)]
        plans += [turned(plan) for plan in plans if isinstance(plan, TilePlan) and not plan.rolling]
        texts = all_counting(stages, self.texts)
        return [p for p in plans if all(any(says(p, n, t) for t in each) for n, each in texts.items())]

    def _alone(self, name: str) -> Plan | None:
        """The plan of a stage by itself in the loops of its scheme; None where that is for other stages."""
        stage = self.pipeline.stage(name)
        for scheme in schemes_among(all_counting((name,), self.texts)[name]):
            if is_for_one(scheme, name):
                found = plan_loops(self.pipeline, stage, scheme, self.machine, self.assumed, self.user)
                if not isinstance(found, Misfit):
                    return found
        return None

    def heeding(self, plans: Iterable[Plan]) -> list[Plan]:
        """Those plans of a group that do what schemes say, tiles with the loops within them; else all."""
        return [*fitting([self._within(plan) for plan in plans], self.texts, self.products)]

    def _within(self, plan: Plan) -> Plan:
        if not isinstance(plan, TilePlan) or not self.asked(plan.group.stages):
            return plan
        if any(scheme.words("back") for scheme in self._readable(plan.group.stages)) and not plan.rolling:
            plan = replace(plan, backwards=True)
        texts = counting(plan.group.stages, self.texts)
        found = with_inner_loops(plan, self.pipeline, self.machine, self.assumed, texts, self.user)
        return plan if isinstance(found, Misfit) else found

    def _is_given(self, name: str) -> bool:
        if name not in self.texts or name in self._within_others:
            return False
        if any(scheme.fused or is_tiled(scheme) for scheme in self.schemes[name]):
            return False
        return contraction_of(self.pipeline.stage(name), self.pipeline.context, self.assumed) is not None

    def _is_modelled(self, name: str) -> bool:
        return self.options.blocks in MODELLED and self.is_open(name)
